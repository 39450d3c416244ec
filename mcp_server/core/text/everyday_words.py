"""English words of every day, in prose or about software: they do not tell where a text is from."""

EVERYDAY = frozenset(
    """
    ability able academic academy accepted access according account acquired across acting action active
    activities activity actor actress actually added addition additional admin administration
    administrative adopted advanced affairs against agency agent agreed agreement ahead aircraft airport
    album albums alive allow allowed allowing almost alone along alongside already although always
    america among amount analysis ancient animal animals announced annual another answer anti anyone
    anything anyway apart appear appearance appearances appeared appears applied apply appointed
    approach approximately april architecture area areas argument armed arms army around array arrived
    article artist artists arts asia asian asked assembly assert asset assigned assistant associated
    association async attack attempt attended attention audience august author authority automatic
    automatically available avenue average award awarded awards away baby back backend background backup
    ball band bank base baseball based basic basis basketball bass batch battalion battle beach beat
    beautiful became become becomes becoming began begin beginning begins behavior behaviour behind
    believe believed bell beneath beside best better beyond birth bishop black block blood blue board
    boat bodies body book books boolean border born bottom bought boys brain branch break breath bridge
    brigade bring britain broadcast broke broken brother brothers brought browser budget buffer build
    building buildings builds built buried business button cache call callback called calling calls came
    camp campaign campus candidate cannot capacity capital captain captured card care career carried
    carry cars case cases cast castle caught cause caused cell census center central centre century
    certain chair chairman challenge champion champions championship championships chance change changed
    changelog changes channel chapter character characters charge chart check checkout checks chest
    chief child children choice chosen christmas church cities city civil claim claimed class classes
    clean clear client clone close closed closer clothes club clubs coach coast code coffee cold
    collection college colonel color column combat combined come comedy comes coming command commander
    commands comment commercial commission commit commits committee common commonly communities
    community companies company compared competed competition compile complete completed completely
    complex component composed computer concept concert conditions conducted conference config
    configuration configure congress connect connected connection considered consists console constant
    constructed construction contact contain contains contemporary content context continue continued
    continues contract control convention convert copy core corner corporation corps cost council count
    countries country county couple course court cover covered crash create created creation creek crew
    crime critical cross crowd cultural culture current currently customer daily damage damn dance dark
    data database date daughter days dead deal death debug debut december decide decided decision
    declared dedicated deep default defeat defeated defense defined degree delete democratic density
    department dependencies dependency deploy deployed deployment deputy describe described design
    designated designed despite destroyed detail detect determined developed developer developers
    development died different difficult digital direct directed direction directly director directory
    disable discovered disease disk distance distribution district divided division docs doctor document
    documentation domain done door doors double download draft drama draw dream dress drew drink drive
    driver drop dropped drug drums duke earlier early earned earth easily east eastern easy economic
    edge edit edition editor education effect effects effort efforts eight either elected election
    elections electric elements else email emperor empire empty enable ended endpoint enemy energy
    engine engineer engineering english enough ensure entered entertainment entire entrance entry
    environment episode episodes equipment error errors escape especially established estate estimated
    even evening event events eventually ever every everyone everything evidence exactly example except
    exception exchange executive exist exists expect expected experience export expression extended
    extension eyes face faced facilities facility fact fail failed fails failure fair fall falls false
    families family famous farm fast father fear feature featured features featuring february federal
    feel feeling feet fell fellow felt female females festival fetch fiction field fields fifth fight
    fighting figure file files filled film films filter final finally finals financial find fine finger
    fingers finish finished fire firm first fish five flag flat fleet flight floor flying focus focused
    folder folders follow followed following follows food foot football footballer force forced forces
    foreign forest form format formation formed former formerly forms fort forward fought found
    foundation founded founder four fourth framework free freedom friend friends front frontend full
    fully function functions future gained gallery game games garden gave gaze general generally
    generate generated generation genus gets getting girl girls give given gives giving glanced glass
    global goal goals goes going gold golden gone good government governor grabbed grade graduated grand
    grant granted gray great greater green grew ground group groups growing growth guard guess guest
    guide guitar guys hair half hand handed handle handler hands happen happened happy hard hash head
    headed header headers headquarters health hear heard heart heat heavy held hell help helped heritage
    hidden high higher highest highly highway hill historic historical history hockey hold holding holds
    holy home honor hook hope horse hospital host hosted hotel hour hours house household households
    houses housing however html http https huge human humans hundred hurt husband icon idea image
    immediately impact implement import important imports include included includes including income
    increase increased independence independent index individual individuals industrial industry
    infantry influence info information initial initially input insert inside install installed instance
    instead institute integration intended interest interface internal international internet interview
    introduced invalid involved iron isbn island islands issue issued issues item items january jazz
    jobs join joined joint journal json judge july june junior justice keep keeping keeps kept keyword
    kids kill killed killing kilometres kind king kingdom kiss kitchen knew know knowing knowledge known
    knows label lack lady laid lake land language languages large largely larger largest last late later
    latest latter laughed launched laws layer layout lead leader leaders leadership leading league
    leaned learned learning least leave leaves leaving left legal legs length less letter letters level
    levels liberal library lies lieutenant life lifted light like likely limit limited line lines link
    lint lips list listed literature little live lived lives living load loads local located location
    lock locked logging logic login long longer look looked looking looks loop lord losing loss lost
    love loved lower machine made magazine magic main mainly maintain major majority make makes making
    male males managed management manager manual many march marine mark market marriage married mass
    master match matches material matter maybe mayor mean meaning means meant medal media median medical
    medicine meet meeting member members memorial memory mentioned menu merge merges message messages
    meta metal method metres middle might migrate migration migrations mile miles military million mind
    mine minister ministry minor minute minutes miss missing mission mixed mobile mock mode model models
    modern module modules moment money monitor month months moon morning mostly mother motion mount
    mountain mountains mouth move moved movement movie moving much multiple municipality murder museum
    music musical must name named names nation national nations native natural nature naval navy near
    nearby nearly necessary neck need needed needs nested network never newly news newspaper next nice
    night nine nodded node nominated none normal north northern notable note noted notes nothing noticed
    novel november null number numbers numerous object occurred ocean october offer offered offers
    office officer officers official officially offline often okay older olympic olympics ones online
    onto open opened opening opera operated operating operation operations option optional options
    orchestra order ordered organization organized original originally others output outside overall
    override owned owner pacific package packages page pages paid pain painting pair palace paper
    parallel parameter parent parents parish park parliament parse parser part participated particular
    particularly parties partner parts party pass passed past patch path paths pattern pause payment
    peace people percent perfect perform performance performed perhaps period permission person personal
    phase phone physical piano pick picked picture piece pieces pipeline place placed places plain plan
    planned planning plans plant plants platform play played player players playing plays please plugin
    point pointed points police policy political politician politics pool poor popular population port
    position positive possible possibly post potential power powerful powers practice prefer prefix
    premier presence present presented president press pressure pretty preview previous previously price
    primarily primary prime prince principal print prior prison private prize probably problem problems
    process produce produced producer product production products professional professor profile program
    programs project projects prominent promoted prompt property proposed protect protection protocol
    provide provided provider provides providing province public published pull pulled purchased purpose
    push pushed quality quarter queen query question questions queue quick quickly quiet quite race
    races racing radio rail railroad railway raise raised random range ranked rate rather reach reached
    reaching react read reading readme reads ready real realized really rear reason receive received
    recent recently recognized record recorded recording records redirect reduce reduced refactor
    referred refresh refused regiment region regional register regular related relations relationship
    release released releases relief religious reload remain remained remaining remains remember remote
    remove removed renamed render repeat replace replaced replied reply report reported reports
    repository representative represented republic republican request requests require required requires
    research reserve reset residents resource resources response responsible rest restart result results
    retired retry return returned returning returns revealed review reviewer reviews revolution rich
    right rights ring rise risk river road rock role roles rollback rome room root round route routes
    royal rugby rule rules running runs rural safe safety said saint sales sample save saying says scale
    scene schedule schema school schools science sciences scientific scope score scored screen script
    scripts search season seasons seat seats second secondary seconds secret secretary section security
    seeing seem seemed seems seen select selected self semi senate send sends senior sense sent separate
    september series serious serve served server servers serves service services serving session setting
    settings settled settlement setup seven several shape share shared shell ship ships shirt shook
    short shortly shot shoulder shoulders show showed shown shows shut side sides sight sign signed
    significant silence silent silver similar simple simply since singer single singles sister site
    sitting situated situation sixth size skin skip sleep slightly slow slowly small smaller smile
    smiled snapshot social society socket soft software sold soldiers solo solution someone something
    sometimes song songs sons soon sorry sort soul sound sounds source sources south southern space
    speak speaking special species specific speed spent spirit split spoke sport sports spot spread
    spring squadron square stable stack stadium staff stage staging stand standard standing star stared
    stars start started starting starts state stated states static station stations status stay stayed
    steel step stepped steps still stomach stone stood stop stopped storage store stored stores stories
    storm story straight strange stream street strength strict string strong structure student students
    studied studies studio study style subject submit subsequently success successful suddenly suffered
    suggested suite summary summer super support supported supposed supreme sure surface surrounding
    sweet switch sydney sync syntax system systems table tables take taken takes taking talk talking
    tall target task tasks taught teacher teaching team teams tears technical technology teeth
    television tell telling tells template temple temporary term terminal terms territory test tested
    testing tests text thank thanks theater theatre theme theory therefore thick thing things think
    thinking third thirty though thought thoughts thread three throat throughout throw thus ticket tight
    time timeout times timestamp title titled today together token tokens told tomorrow tone tonight
    took tool tools topic total touch tour tournament toward towards tower town township trace track
    tracks trade traditional traffic trailing train training transaction transferred transport travel
    treatment tree trees trial tried trigger troops trouble true trust truth trying turn turned turning
    turns twelve twenty twice type types typically unable understand union unique unit united units
    university unknown unless unset update updated updates upgrade upload upon upper urban usage used
    user users uses using usually valid validate validation valley value values vampire variable variety
    various vehicle vendor verify version versions vice victory video view views village visit vocals
    voice volume vote wait waiting walk walked walking wall walls want wanted wants warm warn warning
    watch watched watching water ways weapons wearing webhook website week weekly weeks weight well went
    west western whatever whenever whether whispered white whole whose wide widely widget wife wild wind
    window windows wing winner winning winter wish within without woman women wood word words work
    worked worker workers workflow working works world worth wrap write writer writes writing written
    wrong wrote yard yards yeah year years yellow yesterday young younger youth zone
    """.split()
)
