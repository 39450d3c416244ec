"""
What an order to a model looks like, in many languages: the patterns of `core/provenance/instructions.py`.

Each is looked for in a text in lower case on one line.
"""

_EN_RULES = r"(?:instruct\w*|rules?|prompts?|guid(?:ance|elines?)|directives?|orders|policies)"
_BEFORE = (
    r"(?:previous|prior|above|earlier|preceding|existing|other|your|you (?:got|were given)|so far|before)"
)
_SECRETS = (
    r"(?:\.env\b|\bsecrets?\b|\btokens?\b|\bcredentials?\b|\bpasswords?\b|\bapi.?keys?\b"
    r"|\bprivate keys?\b|\bssh\b"
    r"|\bid_rsa\b|\bpasswort|\bzugangsdaten|\bmot de passe|\bidentifiants|\bcontraseñas?\b"
    r"|\bcredenciales|\bsenhas?\b"
    r"|\bparol|\bпарол|\bключ|密码|密钥|パスワード|鍵|비밀번호|كلمة المرور"
    r"|\b(?:each|every|the|this|your) (?:prompts?|conversations?|chats?|transcripts?)\b|\bauth\.json"
    r"|\bsession log\b"
    r"|\bdatabase dump\b|\bwhat the (?:person|user) types\b|@config\b)"
)
_AWAY = r"(?:https?://|\b[\w-]+(?:\.[\w-]+)+\b|\bwebhook\b|\bgists?\b|\bpastebin\b|\bchannel\b)"
_SHELL = r"(?:sudo\s+)?(?:env\s+)?(?:ba|z|da|k)?sh\b"
_RUN = (
    r"\b(?:run|runs|execute|exec|eval|pipe|paste|launch|start|invoke|führe|starte|exécute[rz]?"
    r"|lance[rz]?|ejecuta\w*"
    r"|corre|esegui\w*|lancia|execut[ae]\w*|rode|выполн\w*|запус\w*|voer|draai|uruchom\w*|çalıştır\w*)\b"
    r"|运行|执行|実行|실행|شغّل|شغل|نفّذ|نفذ|चलाओ|चलाएं"
)
_STRANGE = (
    rf"(?:\b(?:curl|wget|iwr|invoke-webrequest)\b[^|]{{0,200}}\|\s*{_SHELL}|\|\s*{_SHELL}"
    rf"|\brm\s+-\w*[rf]\w*\s|\b{_SHELL}\s+(?!-c\b)[\w./~-]+|\bbase64\s+(?:-d|--decode)"
    rf"|\bchmod\s+(?:-r\s+)?777"
    r"|\b(?:npm|pnpm|yarn|pip3?|gem|cargo|go)\s+(?:i|install|add|get)\s+(?!-r\b|--?[\w-]+\s*$"
    r"|\.)[@\w][\w./@-]*"
    r"|git config\s+(?:--global\s+)?core\.(?:hookspath|sshcommand|pager|editor)|[\w-]+\.sh\b)"
)
_EACH = (
    r"(?:\b(?:before|after|whenever|every time|at the start|always|first|automatically|vor jede\w|immer"
    r"|zuerst"
    r"|avant (?:chaque|toute)|toujours|d'abord|antes de (?:cada|responder)|siempre|primero"
    r"|prima di (?:ogni|rispondere)"
    r"|sempre|antes de|перед|всегда|сначала|voor elke|altijd|przed|zawsze)\b|始终|每次|总是|必ず|毎回"
    r"|前に|항상|전에"
    r"|قبل|دائم|हर |her )"
)

# Each signal: words of which one must be there (of each group), which is quick to see, and the pattern.
SIGNALS: tuple[tuple[str, str], ...] = (
    # Earlier orders shall not hold.
    (
        "ignore|disregard|forget|override|overrule|supersede|drop|neglect",
        rf"\b(?:ignore|disregard|forget|override|overrule|neglect"
        rf"|drop)\b.{{0,40}}\b{_BEFORE}\b.{{0,40}}\b{_EN_RULES}\b"
        rf"|\b(?:ignore|disregard|forget|override)\b.{{0,12}}\b(?:all|any|every|these|those)\b.{{0,12}}"
        r"\b(?:instruct\w*|prompts?|guidance|directives?)\b"
        r"|\b(?:ignore|disregard|forget|override)\b.{0,12}\b(?:the|all|any|every) (?:instruct\w*|rules"
        r"|other rules)"
        r" (?:above|before|you)",
    ),
    (
        "ignor|vergiss|missacht|oubli|olvid|esque|dimentic|trascura|negeer|zignoruj|zapomnij",
        r"\b(?:ignor\w*|vergiss|missacht\w*|oublie\w*|olvid\w*|esque[cç]\w*|dimentica\w*|negeer"
        r"|zignoruj|zapomnij)\b.{0,12}\b(?:alle[nr]?|jede|die|deine|toutes?|les|tes|todas?|las|tus|tutt[ei]|le|tue|as"
        r"|suas|vorige|wszystkie|poprzednie)\b.{0,30}"
        r"(?:anweisung|regel|vorgabe|instruc|consigne|règle|directive|regla|indicaci|istruzion|regole"
        r"|instruç|regra"
        r"|instructies|regels|polece|zasad|instrukcj)",
    ),
    (
        "игнорир|забудь|忽略|无视|無視|忘记|忘れ|무시|تجاهل|انس|अनदेखा|görmezden",
        r"(?:игнорир|забудь).{0,40}(?:инструкц|правил|указан)|(?:忽略|无视|忘记).{0,16}(?:指令"
        r"|指示|规则|说明)"
        r"|(?:指示|命令|ルール|規則).{0,14}(?:無視|忘れ)|(?:지시|규칙|명령).{0,10}무시|(?:تجاهل"
        r"|انس).{0,20}(?:تعليمات|قواعد|أوامر)"
        r"|(?:निर्देश|नियम).{0,20}अनदेखा|(?:talimat|kural).{0,20}görmezden",
    ),
    (
        "all other rules|only rule|your previous instructions|new instructions|your system prompt"
        "|only authority|no longer follow",
        r"\b(?:outranks?|overrides?) all other rules|\bonly (?:rule|authority)\b.{0,20}\b(?:that counts"
        r"|is|here|on this)|\bas the only rule|\byour previous instructions"
        r"|\bnew instructions for (?:the |an? )?(?:agent|assistant|model|claude)"
        r"|\b(?:drop|ignore|replace|reveal|print|repeat|leak) your system prompt|\bno longer follow\b",
    ),
    (
        "claude.md",
        r"\bclaude\.md\b.{0,40}\b(?:no longer|any longer|replace[sd]?|void|obsolete)"
        r"|\bnot follow claude\.md\b",
    ),
    (
        "gilt nur|gelten nur|vaut règle|única regla",
        r"\bgilt nur noch\b|\bgelten nur\b.{0,20}\banweisung|\bfait seul foi\b|\bes la única regla\b",
    ),
    # The person shall not know, or not be asked.
    (
        "not |n't |never |without |nobody|no one|between us|quiet|secret|silent",
        r"\b(?:do not|don't|never|must not|should not|not to|without)\s+(?:ever\s+)?(?:tell|telling"
        r"|inform|informing|alert"
        r"|alerting|notify|notifying|warn|ask|asking|consult\w*)\s+(?:the )?(?:user|human|person"
        r"|developer|operator|anyone"
        r"|anybody)\b(?! (?:of the|twice|again|more than|for))|\b(?:do not|don't|never) (?:mention"
        r"|reveal|disclose|show|talk about)"
        r" (?:this|that|these|it)\b|\b(?:do not|don't|never)\b.{0,20}\b(?:mention|reveal"
        r"|disclose)\b.{0,30}\bto (?:the )?"
        r"(?:user|human|person|anyone|anybody)\b|\bkeep (?:this|it) (?:between us|secret|hidden|from the)"
        r"|\b(?:act on (?:it|this)|do (?:it|this|so)|comply|proceed) (?:quietly|silently|secretly|without)"
        r"|\btell (?:nobody|no one) (?:why|about|that|of)\b",
    ),
    (
        "nutzer|benutzer|anwender|utilisateur|usuari|utente|utilizador|gebruiker|użytkownik|kullanıcı",
        r"\b(?:sage?|erzähle?|verrate|melde)\b.{0,12}\bnutzer\b.{0,12}\bnichts|\b(?:nichts|nie|niemals"
        r"|nicht)\b.{0,30}"
        r"\b(?:sagen|erzählen|verraten|informieren|fragen)|\bne (?:dis|dites|parle"
        r"|révèle)\w*\b.{0,20}\butilisateur"
        r"|\bsans (?:demander|prévenir|avertir)|\bno (?:le |se lo )?(?:digas|cuentes|informes"
        r"|menciones)\b|\bsin (?:preguntar|avisar)"
        r"|\bnon (?:dire|dirlo|rivelare|menzionare)\b|\bsenza (?:chiedere|avvisare)|\bnão (?:conte|diga"
        r"|informe|mencione)\b"
        r"|\bsem (?:perguntar|avisar)|\bvertel\b.{0,20}\bniets|\bzonder te vragen|\bnie mów\b|\bsöyleme\b",
    ),
    (
        "ohne zu fragen|ohne nachzufragen|frage nie|sans demander|sans confirmation|sin preguntar"
        "|sin confirma|senza chiedere"
        "|senza conferma|sem perguntar|sem confirma|zonder te vragen",
        r"\bohne (?:nach)?zu\s?fragen|\bohne nachzufragen|\bfrage (?:nie|niemals)\b.{0,12}\b(?:nach"
        r"|bevor)|\bsans demander"
        r"|\bsans confirmation|\bsin (?:preguntar|confirmación)|\bsenza (?:chiedere|conferma)"
        r"|\bsem (?:perguntar|confirmação)"
        r"|\bzonder te vragen",
    ),
    (
        "пользовател|подтвержд|用户|ユーザー|사용자|المستخدم|تأكيد|उपयोगकर्ता|确认|確認",
        r"(?:не|ничего не) (?:говори|сообщай|рассказывай|упоминай|спрашивай)|без (?:подтвержд|спроса)"
        r"|(?:不要|别|勿|无需|不必).{0,4}(?:告诉|告知|询问|通知|提及).{0,6}用户|跳过.{0,6}确认"
        r"|ユーザーに.{0,6}(?:伝えない|知らせない|言わない|聞かず|尋ねず|確認せず)|確認(?:なし|せず|を省)"
        r"|사용자에게.{0,12}(?:말하지|알리지|묻지)|لا (?:تخبر|تسأل|تذكر).{0,12}المستخدم|دون (?:سؤال"
        r"|تأكيد|إخبار)|उपयोगकर्ता को.{0,8}(?:मत|न) ",
    ),
    # A secret shall be sent somewhere.
    (
        "send|post|upload|forward|exfiltrat|copy|leak|email|curl|wget|paste|publish|store"
        "&.env|secret|token|credential|password|key|keys|ssh|id_rsa| log|dump|prompt|conversation|chat"
        "|transcript|types|auth.json"
        "|@config|your |exfiltrat|the file|the output|the result|the content",
        rf"\b(?:send|post|upload|forward|exfiltrate|copy|leak|e?mail|paste|publish|curl"
        rf"|wget)\b.{{0,60}}{_SECRETS}.{{0,60}}{_AWAY}"
        rf"|\b(?:store|put|post|publish) your (?:reply|answer|output|context)\b.{{0,40}}{_AWAY}"
        r"|\bexfiltrat\w+|\b(?:send|upload|forward) the (?:file|output|result|contents?) to https?://",
    ),
    (
        "schick|sende|lade |envoi|envoy|envía|envia|sube|invia|carica|envie|отправ|загруз|上传|发送"
        "|送信|アップロード|보내|أرسل|ارفع|stuur",
        r"(?:\bschicke?\b|\bsende\b|\blade\b|\benvo(?:ie|yez|yer)\b|\benv[íi]a|\bsube\b|\binvia\b"
        r"|\bcarica\b|\benvie\b"
        rf"|отправ|загруз|上传|发送|보내|أرسل|ارفع|\bstuur\b).{{0,60}}{_SECRETS}"
        rf"|{_SECRETS}.{{0,60}}(?:上传|发送|送信|アップロード|보내)",
    ),
    # A program from others shall be run.
    (
        "curl|wget|iwr|eval(",
        rf"\b(?:curl|wget|iwr)\b[^|\n]{{0,200}}\|\s*{_SHELL}|\bcurl\b.{{0,40}}\s(?:-d|--data\S*|-f|-t)\s*@"
        r"|\beval\((?:atob|base64)",
    ),
    (
        "before|after|whenever|every|at the start|always|first|automatically|vor jede|immer|zuerst"
        "|avant|toujours|d'abord"
        "|antes|siempre|primero|prima|sempre|перед|всегда|сначала|voor elke|altijd|przed|zawsze|her "
        "|始终|每次|总是|必ず|毎回"
        "|前に|항상|전에|قبل|دائم|हर |execute|run |実行|실행|pipe|çalıştır"
        "&.sh|bash|sh |rm -|npm |pnpm |yarn |pip |pip3 |gem |cargo |go |base64|chmod|git config",
        rf"(?:{_RUN}).{{0,30}}(?<![\w/]){_STRANGE}.{{0,60}}{_EACH}"
        rf"|{_EACH}.{{0,60}}(?:{_RUN}).{{0,30}}(?<![\w/]){_STRANGE}"
        rf"|{_EACH}.{{0,40}}(?<![\w/]){_STRANGE}.{{0,20}}(?:{_RUN})"
        rf"|(?<![\w/]){_STRANGE}.{{0,12}}(?:実行|실행|çalıştır).{{0,40}}"
        r"|\b(?:execute|run)\b.{0,12}\brm\s+-\w*[rf]\w*\s+[~/]|\|\s*(?:in)?to (?:ba)?sh\b"
        r"|\bpipe\b.{0,80}\b(?:in)?to (?:ba|z)?sh\b",
    ),
    (
        "instal|установи"
        "&always|silently|secretly|automatically|before|first|bevor|antes|prima|zuerst|sofort|d'abord"
        "|primero|subito|primeiro|до",
        r"\b(?:always|silently|secretly|automatically|before you (?:reply|answer)"
        r"|first)\b.{0,20}\binstall\b"
        r"|\binstall\w*\b.{0,60}\b(?:before you (?:reply|answer|continue)|bevor du|antes de responder"
        r"|prima di rispondere)"
        r"|\b(?:installiere|installe|instala|installa|instale)\b.{0,12}\b(?:zuerst|sofort|d'abord"
        r"|primero|subito|primeiro)\b"
        r"|установи\w*\b.{0,60}\bдо ответа",
    ),
    # It speaks as an authority, or claims a permission.
    (
        "you are now|your new|you must now|from now on|from this point",
        r"\byou are now\b(?! (?:able|ready|done|in the|on|set|logged|free to|asked))|\byour new (?:role"
        r"|task|instructions?|name)\b"
        r"|\byou must now\b|\bfrom (?:now on|this point (?:on|onward|onwards)),? (?:you\b|claude"
        r"|the assistant|act|approve|skip"
        r"|ignore|obey|respond|forward|treat|answer every)|\b(?:use|add|include"
        r"|append) `?--?[\w-]+`?.{0,40}\bfrom now on",
    ),
    (
        "<|im_|[inst|[/inst|{{tool|antml:|<!--",
        r"<\|im_\w+\|>|\[/?inst\]"
        r"|\{\{tool\b|\bantml:\w|<!--[^>]{0,40}\b(?:assistant|claude|agent|model|ai|always run"
        r"|from now on)\b",
    ),
    (
        "mcp__| tool",
        r"\b(?:run|call|invoke|use) mcp__\w"
        r"|\b(?:use|call|invoke) the \w+ tool\b.{0,20}\b(?:now|before|first)\b",
    ),
    (
        "approv|confirm|authori|permission|allow",
        r"\b(?:user|person|human|operator|owner) (?:has )?already (?:approved|confirmed|allowed"
        r"|agreed)\b|\byour permission mode\b"
        r"|\b(?:user|person|human) (?:has )?(?:approved|confirmed) (?:that|yesterday|this|all|every)\b"
        r"|\b(?:approve|accept|confirm|grant|allow) (?:every|all|each|any) (?:\w+ )?(?:requests?"
        r"|commands?|prompts?|actions?|changes?"
        r"|confirmations?|merge requests?|pull requests?)\b|\b(?:tools?|requests?|commands?|actions?"
        r"|confirmations?|prompts?|dialogs?)"
        r" (?:are|is|were) (?:all |now |already )?(?:pre-?approved|disabled|approved|authori[sz]ed"
        r"|switched off)"
        r"|\bwithout (?:any )?(?:confirmation|approval|asking first)|\bskip (?:every|all|each"
        r"|any) confirmations?",
    ),
    (
        "genehmig|bestätig|autoris|approu|aprob|aprov|approv|одобр|批准|承認|승인|معتمد|وافق"
        "|goedgekeurd|zatwierdz|permiti",
        r"\b(?:werkzeuge|anfragen|befehle)\b.{0,20}\bgenehmigt|\bgenehmige\b|\bapprouve[rz]? (?:chaque"
        r"|toutes?|tous)|\boutils\b.{0,20}"
        r"\bautorisés|\baprueba\w* (?:toda|cada)|\baprove? (?:tod|cada)"
        r"|\bferramentas\b.{0,20}\baprovadas|\bherramientas\b.{0,24}\baprobadas"
        r"|\bapprova (?:ogni|tutt)|\bstrumenti\b.{0,20}\bapprovati|инструменты.{0,20}одобрен|одобряй"
        r"|(?:工具|请求).{0,10}批准|批准所有"
        r"|(?:ツール|要求|リクエスト).{0,10}承認|(?:도구|요청).{0,10}승인|الأدوات معتمدة|وافق على (?:كل"
        r"|جميع)",
    ),
    (
        "confirmacion|bestätigung|confirmations|conferm|подтвержд",
        r"\bconfirmaciones\b.{0,20}\bdesactivadas|\bsautes?\b.{0,12}\bconfirmations"
        r"|\büberspring\w*\b.{0,16}\bbestätigung"
        r"|\bsalta\b.{0,12}\bconferm|пропуска.{0,12}подтвержд",
    ),
    (
        "silently|secretly|quietly|automatically",
        r"\b(?:silently|secretly|quietly) (?:switch|delete|remove|push|commit|deploy|change|add|approve"
        r"|run|send|install)\b"
        r"|\bautomatically (?:approve|accept) (?:every|all|any|each|its)\b",
    ),
    # It wants a wrong answer.
    (
        "always |steer |asked|asks|tests pass|tests have pass|test pass|no risk|no issue|no vulnerab"
        "|is safe|are safe|assistant|ai |model"
        "|claude|agent|approving",
        r"\balways (?:recommend|suggest) (?!the (?:small|simpl|short)|a (?:small|simpl))"
        r"|\bsteer (?:the |every )?(?:person|user|people|users)\b"
        r"|\bwhen(?:ever)? (?:you are |someone )?ask(?:ed|s)\b.{0,60}\b(?:recommend|suggest|say|answer"
        r"|claim|reply|tell)\b"
        r"|\b(?:report|claim|pretend|state|say|declare) (?:that )?.{0,20}\b(?:tests? (?:passed|pass)"
        r"|no (?:risks?|issues?|vulnerabilit\w+)"
        r"|is safe|are safe)|\b(?:assistant|ai|model|claude|agent) (?:should|must|has to"
        r"|will) (?:always |never )?(?:answer|respond|say|reply"
        r"|approve|obey|not follow|ignore)\b|\bapproving (?:summary|review)\b",
    ),
    (
        "affirm|declar|dichiar|behaupte|antworte immer|responde",
        r"\baffirme[rz]? qu|\bdichiara che\b|\bdeclara que\b|\bbehaupte\b"
        r"|\b(?:siempre )?responde (?:siempre )?que no\b",
    ),
    # It removes a protection.
    (
        "disable|turn off|switch off|no-verify|without review|without a review|skip the|replace every"
        "|administrator|write access",
        r"(?:^|[.;:!]\s|\b(?:and|please|to|must|always|sure to)\s)(?:disable|turn off"
        r"|switch off)\s(?:the |all |any )?(?:certificate|tls|ssl"
        r"|linter|safety|review|verification|signature|security|sandbox)|\b--no-verify\b.{0,30}\b(?:all"
        r"|every|always)"
        r"|\bskip the (?:test suite|tests)\b.{0,12}\band\b|(?:^|[.;]\s)replace every (?:occurrence|url"
        r"|host)\b"
        r"|\b(?:merge|push|commit)\w* without (?:a )?review\b.{0,12}\b(?:from now|order|always)"
        r"|\b(?:agents?|assistants?) (?:get|have) write access"
        r"|\b(?:adds?|grant|give)\b.{0,30}\b(?:as an administrator|write access|admin rights)",
    ),
    # It hides what it says.
    (
        "decode|base64|rot13|hex|morse|backwards|unescape",
        r"\b(?:decode|base64|rot13|hex|morse|backwards|unescape)\b.{0,120}"
        r"\b(?:obey|follow|apply it|execute|run after|do what it says|do it)\b|\b(?:rot13|hex"
        r"|morse)\b.{0,40}\bto execute\b",
    ),
)
_SPEAKERS = (
    r"(?:system|assistant|human|système|instructions? système|sistema|mensagem do sistema|система|系统"
    r"|系統|システム"
    r"|النظام|시스템)"
)
# Every text with such a head has one of these.
SPEAKING = "system|sistema|assistant|human|claude|système|система|系统|系統|システム|النظام|시스템"
HEADS = (
    rf"^[ \t#>*]*+{_SPEAKERS}\s*[:：]"
    r"(?=\s*\S+(?:\s+\S+){3}|\s*(?:obey|comply|ignore|approve|you)\b|\s*[^\x00-\x7f]{4})"
    rf"|^[ \t]*+#++\s*{_SPEAKERS}\s*$(?=\s*\S)"
    r"|^[ \t#>*]*+(?:system|sistema) (?:notice|message|note|override)\b|^claude[,:]\s"
)
TAG = (  # "<User>" is a component of a web page, "<user>" a speaker
    r"</?(?:[a-z_]+:)?(?:system|assistant|user|human|tool_use|tool_result|function_calls?|instructions?"
    r"|SYSTEM|ASSISTANT"
    r"|USER|HUMAN|INSTRUCTIONS?)\b[^>\n]{0,80}>"
)
