-- What a team's database of schema 1 holds: pg_dump --no-owner --inserts -n daybook, without comments.
SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
CREATE SCHEMA daybook;
CREATE FUNCTION daybook.member() RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN COALESCE(current_setting('daybook.member'::text, true), ''::text);
CREATE FUNCTION daybook.name_version() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    NEW.digest := encode(sha256(convert_to(NEW.said::text, 'UTF8')), 'hex');
    IF NEW.said ->> 'id' IS DISTINCT FROM NEW.id THEN
        RAISE insufficient_privilege USING MESSAGE = 'the id of a memory stays';
    END IF;
    IF TG_OP = 'UPDATE' THEN
        IF NEW.id <> OLD.id OR NEW.author <> OLD.author THEN
            RAISE insufficient_privilege USING MESSAGE = 'the id and the author of a memory stay';
        END IF;
        IF (NEW.confirmed_by, NEW.confirmed_digest) <> (OLD.confirmed_by, OLD.confirmed_digest)
           AND (NEW.confirmed_by, NEW.confirmed_digest) <> (daybook.member(), NEW.digest) THEN
            RAISE insufficient_privilege USING MESSAGE = 'a curator confirms in their own name what it says now';
        END IF;
    END IF;
    RETURN NEW;
END $$;
CREATE FUNCTION daybook.note_change() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    kind text;
BEGIN
    IF TG_OP = 'INSERT' THEN
        kind := 'created';
    ELSIF NEW.forgotten_at IS NOT NULL AND OLD.forgotten_at IS NULL THEN
        kind := 'forgotten';
    ELSIF NEW.digest <> OLD.digest THEN
        kind := CASE WHEN OLD.forgotten_at IS NULL OR NEW.forgotten_at IS NOT NULL
                     THEN 'revised' ELSE 'created' END;
    ELSIF NEW.forgotten_at IS NULL AND OLD.forgotten_at IS NOT NULL THEN
        kind := 'restored';
    ELSIF NEW.confirmed_digest <> OLD.confirmed_digest OR NEW.confirmed_by <> OLD.confirmed_by THEN
        kind := 'confirmed';
    ELSE
        RETURN NULL;
    END IF;
    INSERT INTO daybook.changes (memory, kind, author, before)
    VALUES (NEW.row, kind, daybook.member(), CASE WHEN TG_OP = 'UPDATE' THEN OLD.said END);
    RETURN NULL;
END $$;
CREATE FUNCTION daybook.refuse() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    RAISE insufficient_privilege USING MESSAGE = 'what was done stays written';
END $$;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE daybook.changes (
    number bigint NOT NULL,
    memory bigint NOT NULL,
    kind text NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    author text NOT NULL,
    before jsonb
);
ALTER TABLE daybook.changes ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME daybook.changes_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE daybook.members (
    name text NOT NULL,
    role text NOT NULL,
    token bytea,
    issued_at timestamp with time zone DEFAULT now() NOT NULL,
    withdrawn_at timestamp with time zone,
    CONSTRAINT members_role_check CHECK ((role = ANY (ARRAY['reader'::text, 'writer'::text, 'curator'::text])))
);
CREATE TABLE daybook.memories (
    "row" bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    said jsonb NOT NULL,
    digest text NOT NULL,
    author text NOT NULL,
    confirmed_by text DEFAULT ''::text NOT NULL,
    confirmed_digest text DEFAULT ''::text NOT NULL,
    forgotten_at timestamp with time zone
);
ALTER TABLE daybook.memories ALTER COLUMN "row" ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME daybook.memories_row_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE daybook.searched (
    memory bigint NOT NULL,
    length integer NOT NULL,
    type text NOT NULL,
    status text NOT NULL,
    category text NOT NULL,
    updated timestamp with time zone NOT NULL,
    valid_from timestamp with time zone NOT NULL,
    valid_to timestamp with time zone,
    tags text[] NOT NULL,
    touches text[] NOT NULL,
    lexemes tsvector NOT NULL
);
CREATE TABLE daybook.team (
    single boolean DEFAULT true NOT NULL,
    name text NOT NULL,
    model text DEFAULT ''::text NOT NULL,
    dimensions integer DEFAULT 0 NOT NULL,
    CONSTRAINT team_single_check CHECK (single)
);
CREATE TABLE daybook.upgrades (
    number integer NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
INSERT INTO daybook.changes OVERRIDING SYSTEM VALUE VALUES (1, 1, 'created', '2026-11-23 23:59:26.214615+00', 'anna', NULL);
INSERT INTO daybook.changes OVERRIDING SYSTEM VALUE VALUES (2, 1, 'revised', '2026-11-23 23:59:26.238789+00', 'anna', '{"id": "webhook-raw-body", "tags": ["billing", "stripe"], "text": "Body parsing must be skipped for the webhook, or the signature is wrong.", "type": "gotcha", "title": "Webhook needs the raw body", "created": "2026-11-20T09:12:03+00:00", "touches": ["src/pay.ts:42"], "updated": "2026-11-20T09:12:03+00:00"}');
INSERT INTO daybook.changes OVERRIDING SYSTEM VALUE VALUES (3, 1, 'confirmed', '2026-11-23 23:59:26.25212+00', 'cleo', '{"id": "webhook-raw-body", "tags": ["billing", "stripe"], "text": "Body parsing must be skipped for /webhook, or the signature is wrong.", "type": "gotcha", "title": "Webhook needs the raw body", "created": "2026-11-20T09:12:03+00:00", "touches": ["src/pay.ts:42"], "updated": "2026-11-20T09:12:03+00:00"}');
INSERT INTO daybook.changes OVERRIDING SYSTEM VALUE VALUES (4, 2, 'created', '2026-11-23 23:59:26.264115+00', 'bert', NULL);
INSERT INTO daybook.changes OVERRIDING SYSTEM VALUE VALUES (5, 3, 'created', '2026-11-23 23:59:26.277422+00', 'bert', NULL);
INSERT INTO daybook.changes OVERRIDING SYSTEM VALUE VALUES (6, 4, 'created', '2026-11-23 23:59:26.293109+00', 'anna', NULL);
INSERT INTO daybook.changes OVERRIDING SYSTEM VALUE VALUES (7, 4, 'forgotten', '2026-11-23 23:59:26.305304+00', 'anna', '{"id": "old-port", "text": "The port was 8081.", "title": "Port", "created": "2026-11-20T09:12:03+00:00", "updated": "2026-11-20T09:12:03+00:00"}');
INSERT INTO daybook.members VALUES ('anna', 'writer', '\xc520b8f93a76b650a38c3c429753bbaaec0e7bbe1cdfffed61785b3415910e05', '2026-11-23 23:59:26.1562+00', NULL);
INSERT INTO daybook.members VALUES ('bert', 'writer', '\x0d4bc85a9094b36af3df583d73eaeef97732063624709374ee56831b103d6d5e', '2026-11-23 23:59:26.188474+00', NULL);
INSERT INTO daybook.members VALUES ('cleo', 'curator', '\xbf18abf86d8b89bcfaa89ebc14b55764387b7df0b8103b3c46d3d6477910752b', '2026-11-23 23:59:26.196725+00', NULL);
INSERT INTO daybook.members VALUES ('dora', 'reader', NULL, '2026-11-23 23:59:26.204531+00', '2026-11-23 23:59:26.308395+00');
INSERT INTO daybook.memories OVERRIDING SYSTEM VALUE VALUES (1, 'webhook-raw-body', '{"id": "webhook-raw-body", "tags": ["billing", "stripe"], "text": "Body parsing must be skipped for /webhook, or the signature is wrong.", "type": "gotcha", "title": "Webhook needs the raw body", "created": "2026-11-20T09:12:03+00:00", "touches": ["src/pay.ts:42"], "updated": "2026-11-20T09:12:03+00:00"}', '5b61929b77c8c5d4a110e2ae9f941f6972cd59bada18b9a345e32e812c8ebfe9', 'anna', 'cleo', '5b61929b77c8c5d4a110e2ae9f941f6972cd59bada18b9a345e32e812c8ebfe9', NULL);
INSERT INTO daybook.memories OVERRIDING SYSTEM VALUE VALUES (2, 'prices', '{"id": "prices", "text": "Prices are stored without value added tax, in cents; it''s \"net\".", "title": "Prices", "created": "2026-11-20T09:12:03+00:00", "updated": "2026-11-20T09:12:03+00:00"}', 'b131f5c4f7f915440b3e6d08d266873b54d25170b7ac31930c182e74054d20da', 'bert', '', '', NULL);
INSERT INTO daybook.memories OVERRIDING SYSTEM VALUE VALUES (3, 'deploys', '{"id": "deploys", "text": "## Step 0\n\nDeploy step 0 waits for the migration of the ledger. Deploy step 0 waits for the migration of the ledger. Deploy step 0 waits for the migration of the ledger. Deploy step 0 waits for the migration of the ledger. Deploy step 0 waits for the migration of the ledger. Deploy step 0 waits for the migration of the ledger. Deploy step 0 waits for the migration of the ledger. Deploy step 0 waits for the migration of the ledger. Deploy step 0 waits for the migration of the ledger. Deploy step 0 waits for the migration of the ledger. Deploy step 0 waits for the migration of the ledger. Deploy step 0 waits for the migration of the ledger. \n\n## Step 1\n\nDeploy step 1 waits for the migration of the ledger. Deploy step 1 waits for the migration of the ledger. Deploy step 1 waits for the migration of the ledger. Deploy step 1 waits for the migration of the ledger. Deploy step 1 waits for the migration of the ledger. Deploy step 1 waits for the migration of the ledger. Deploy step 1 waits for the migration of the ledger. Deploy step 1 waits for the migration of the ledger. Deploy step 1 waits for the migration of the ledger. Deploy step 1 waits for the migration of the ledger. Deploy step 1 waits for the migration of the ledger. Deploy step 1 waits for the migration of the ledger. \n\n## Step 2\n\nDeploy step 2 waits for the migration of the ledger. Deploy step 2 waits for the migration of the ledger. Deploy step 2 waits for the migration of the ledger. Deploy step 2 waits for the migration of the ledger. Deploy step 2 waits for the migration of the ledger. Deploy step 2 waits for the migration of the ledger. Deploy step 2 waits for the migration of the ledger. Deploy step 2 waits for the migration of the ledger. Deploy step 2 waits for the migration of the ledger. Deploy step 2 waits for the migration of the ledger. Deploy step 2 waits for the migration of the ledger. Deploy step 2 waits for the migration of the ledger. \n\n## Step 3\n\nDeploy step 3 waits for the migration of the ledger. Deploy step 3 waits for the migration of the ledger. Deploy step 3 waits for the migration of the ledger. Deploy step 3 waits for the migration of the ledger. Deploy step 3 waits for the migration of the ledger. Deploy step 3 waits for the migration of the ledger. Deploy step 3 waits for the migration of the ledger. Deploy step 3 waits for the migration of the ledger. Deploy step 3 waits for the migration of the ledger. Deploy step 3 waits for the migration of the ledger. Deploy step 3 waits for the migration of the ledger. Deploy step 3 waits for the migration of the ledger. ", "type": "reference", "title": "Deploys", "created": "2026-11-20T09:12:03+00:00", "updated": "2026-11-20T09:12:03+00:00"}', '8a5acf8e93e1331e10b4c1f31c32881744918695456388e53de1b220184cd73d', 'bert', '', '', NULL);
INSERT INTO daybook.memories OVERRIDING SYSTEM VALUE VALUES (4, 'old-port', '{"id": "old-port", "text": "The port was 8081.", "title": "Port", "created": "2026-11-20T09:12:03+00:00", "updated": "2026-11-20T09:12:03+00:00"}', '0672aac0e6d664198e8ac98c23c3e7b13ee7bc8357a299241cb2f84473b9c2f4', 'anna', '', '', '2026-11-23 23:59:26.304474+00');
INSERT INTO daybook.searched VALUES (1, 19, 'gotcha', 'active', '', '2026-11-20 09:12:03+00', '2026-11-20 09:12:03+00', NULL, '{billing,stripe}', '{src/pay.ts:42}', '''be'':19 ''bill'':38 ''bodi'':5,16 ''for'':21 ''is'':26 ''must'':18 ''need'':2 ''or'':23 ''pars'':17 ''raw'':4 ''signatur'':25 ''skip'':20 ''stripe'':39 ''the'':3,24 ''webhook'':1,22 ''wrong'':27');
INSERT INTO daybook.searched VALUES (2, 13, 'note', 'active', '', '2026-11-20 09:12:03+00', '2026-11-20 09:12:03+00', NULL, '{}', '{}', '''ad'':17 ''ar'':13 ''cent'':20 ''in'':19 ''it'':21 ''net'':23 ''price'':1,12 ''s'':22 ''store'':14 ''tax'':18 ''valu'':16 ''without'':15');
INSERT INTO daybook.searched VALUES (3, 489, 'reference', 'active', '', '2026-11-20 09:12:03+00', '2026-11-20 09:12:03+00', NULL, '{}', '{}', '''0'':13,16,26,36,46,56,66,76,86,96,106,116,126 ''1'':135,138,148,158,168,178,188,198,208,218,228,238,248 ''2'':257,260,270,280,290,300,310,320,330,340,350,360,370 ''3'':379,382,392,402,412,422,432,442,452,462,472,482,492 ''deploi'':1,14,24,34,44,54,64,74,84,94,104,114,124,136,146,156,166,176,186,196,206,216,226,236,246,258,268,278,288,298,308,318,328,338,348,358,368,380,390,400,410,420,430,440,450,460,470,480,490 ''for'':18,28,38,48,58,68,78,88,98,108,118,128,140,150,160,170,180,190,200,210,220,230,240,250,262,272,282,292,302,312,322,332,342,352,362,372,384,394,404,414,424,434,444,454,464,474,484,494 ''ledger'':23,33,43,53,63,73,83,93,103,113,123,133,145,155,165,175,185,195,205,215,225,235,245,255,267,277,287,297,307,317,327,337,347,357,367,377,389,399,409,419,429,439,449,459,469,479,489,499 ''migrat'':20,30,40,50,60,70,80,90,100,110,120,130,142,152,162,172,182,192,202,212,222,232,242,252,264,274,284,294,304,314,324,334,344,354,364,374,386,396,406,416,426,436,446,456,466,476,486,496 ''of'':21,31,41,51,61,71,81,91,101,111,121,131,143,153,163,173,183,193,203,213,223,233,243,253,265,275,285,295,305,315,325,335,345,355,365,375,387,397,407,417,427,437,447,457,467,477,487,497 ''step'':12,15,25,35,45,55,65,75,85,95,105,115,125,134,137,147,157,167,177,187,197,207,217,227,237,247,256,259,269,279,289,299,309,319,329,339,349,359,369,378,381,391,401,411,421,431,441,451,461,471,481,491 ''the'':19,22,29,32,39,42,49,52,59,62,69,72,79,82,89,92,99,102,109,112,119,122,129,132,141,144,151,154,161,164,171,174,181,184,191,194,201,204,211,214,221,224,231,234,241,244,251,254,263,266,273,276,283,286,293,296,303,306,313,316,323,326,333,336,343,346,353,356,363,366,373,376,385,388,395,398,405,408,415,418,425,428,435,438,445,448,455,458,465,468,475,478,485,488,495,498 ''wait'':17,27,37,47,57,67,77,87,97,107,117,127,139,149,159,169,179,189,199,209,219,229,239,249,261,271,281,291,301,311,321,331,341,351,361,371,383,393,403,413,423,433,443,453,463,473,483,493');
INSERT INTO daybook.team VALUES (true, 'Billing', '', 0);
INSERT INTO daybook.upgrades VALUES (1, '2026-11-23 23:59:26.09235+00');
SELECT pg_catalog.setval('daybook.changes_number_seq', 7, true);
SELECT pg_catalog.setval('daybook.memories_row_seq', 4, true);
ALTER TABLE ONLY daybook.changes
    ADD CONSTRAINT changes_pkey PRIMARY KEY (number);
ALTER TABLE ONLY daybook.members
    ADD CONSTRAINT members_pkey PRIMARY KEY (name);
ALTER TABLE ONLY daybook.members
    ADD CONSTRAINT members_token_key UNIQUE (token);
ALTER TABLE ONLY daybook.memories
    ADD CONSTRAINT memories_id_key UNIQUE (id);
ALTER TABLE ONLY daybook.memories
    ADD CONSTRAINT memories_pkey PRIMARY KEY ("row");
ALTER TABLE ONLY daybook.searched
    ADD CONSTRAINT searched_pkey PRIMARY KEY (memory);
ALTER TABLE ONLY daybook.team
    ADD CONSTRAINT team_pkey PRIMARY KEY (single);
ALTER TABLE ONLY daybook.upgrades
    ADD CONSTRAINT upgrades_pkey PRIMARY KEY (number);
CREATE INDEX changes_of_memory ON daybook.changes USING btree (memory, number);
CREATE INDEX memories_confirmed ON daybook.memories USING btree (id) WHERE ((confirmed_digest = digest) AND (forgotten_at IS NULL));
CREATE INDEX memories_of_author ON daybook.memories USING btree (author);
CREATE INDEX searched_words ON daybook.searched USING gin (lexemes);
CREATE TRIGGER name_version BEFORE INSERT OR UPDATE ON daybook.memories FOR EACH ROW EXECUTE FUNCTION daybook.name_version();
CREATE TRIGGER note_change AFTER INSERT OR UPDATE ON daybook.memories FOR EACH ROW EXECUTE FUNCTION daybook.note_change();
CREATE TRIGGER only_added BEFORE DELETE OR UPDATE OR TRUNCATE ON daybook.changes FOR EACH STATEMENT EXECUTE FUNCTION daybook.refuse();
ALTER TABLE ONLY daybook.changes
    ADD CONSTRAINT changes_memory_fkey FOREIGN KEY (memory) REFERENCES daybook.memories("row");
ALTER TABLE ONLY daybook.searched
    ADD CONSTRAINT searched_memory_fkey FOREIGN KEY (memory) REFERENCES daybook.memories("row");
CREATE POLICY add_own ON daybook.memories FOR INSERT TO daybook_writer WITH CHECK (((author = ( SELECT daybook.member() AS member)) AND (confirmed_by = ''::text) AND (forgotten_at IS NULL)));
CREATE POLICY change_any ON daybook.memories FOR UPDATE TO daybook_curator USING (true);
CREATE POLICY change_own ON daybook.memories FOR UPDATE TO daybook_writer USING ((author = ( SELECT daybook.member() AS member))) WITH CHECK ((author = ( SELECT daybook.member() AS member)));
ALTER TABLE daybook.changes ENABLE ROW LEVEL SECURITY;
ALTER TABLE daybook.members ENABLE ROW LEVEL SECURITY;
ALTER TABLE daybook.memories ENABLE ROW LEVEL SECURITY;
CREATE POLICY read_changes ON daybook.changes FOR SELECT TO daybook_reader USING ((EXISTS ( SELECT
   FROM daybook.memories m
  WHERE (m."row" = changes.memory))));
CREATE POLICY read_forgotten ON daybook.memories FOR SELECT TO daybook_curator USING (true);
CREATE POLICY read_living ON daybook.memories FOR SELECT TO daybook_reader USING (((forgotten_at IS NULL) OR (author = ( SELECT daybook.member() AS member))));
CREATE POLICY read_team ON daybook.team FOR SELECT TO daybook_reader USING (true);
ALTER TABLE daybook.team ENABLE ROW LEVEL SECURITY;
GRANT USAGE ON SCHEMA daybook TO daybook_reader;
GRANT SELECT ON TABLE daybook.changes TO daybook_reader;
GRANT SELECT ON TABLE daybook.memories TO daybook_reader;
GRANT INSERT(id) ON TABLE daybook.memories TO daybook_writer;
GRANT INSERT(said),UPDATE(said) ON TABLE daybook.memories TO daybook_writer;
GRANT INSERT(author) ON TABLE daybook.memories TO daybook_writer;
GRANT UPDATE(confirmed_by) ON TABLE daybook.memories TO daybook_curator;
GRANT UPDATE(confirmed_digest) ON TABLE daybook.memories TO daybook_curator;
GRANT UPDATE(forgotten_at) ON TABLE daybook.memories TO daybook_writer;
GRANT SELECT ON TABLE daybook.searched TO daybook_reader;
GRANT SELECT ON TABLE daybook.team TO daybook_reader;
