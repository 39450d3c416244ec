-- What a team keeps: its name, its members, their memories, every change, and the words to search by.
-- It is run once, inside one transaction, by the login of the server, which owns everything.

CREATE FUNCTION daybook.member() RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN coalesce(current_setting('daybook.member', true), '');

CREATE TABLE daybook.team (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    name text NOT NULL,
    model text NOT NULL DEFAULT '',         -- the embedder whose vectors are stored, '' for none
    dimensions integer NOT NULL DEFAULT 0
);

-- Only the server's login reads this table: no role of a member is granted anything here.
CREATE TABLE daybook.members (
    name text PRIMARY KEY,
    role text NOT NULL CHECK (role IN ('reader', 'writer', 'curator')),
    token bytea UNIQUE,                     -- SHA-256 of the token, NULL when it is withdrawn
    issued_at timestamptz NOT NULL DEFAULT now(),
    withdrawn_at timestamptz
);

CREATE TABLE daybook.memories (
    row bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE,
    said jsonb NOT NULL,                    -- the memory: every key that is not its default
    digest text NOT NULL,                   -- of `said`; a trigger computes it
    author text NOT NULL,
    confirmed_by text NOT NULL DEFAULT '',
    confirmed_digest text NOT NULL DEFAULT '', -- the version that was confirmed: of another it says nothing
    forgotten_at timestamptz
);
CREATE INDEX memories_confirmed ON daybook.memories (id)
    WHERE confirmed_digest = digest AND forgotten_at IS NULL;
CREATE INDEX memories_of_author ON daybook.memories (author);

CREATE TABLE daybook.changes (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    memory bigint NOT NULL REFERENCES daybook.memories (row),
    kind text NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    author text NOT NULL,
    before jsonb                            -- what the memory said until then, NULL at first
);
CREATE INDEX changes_of_memory ON daybook.changes (memory, number);

-- What is searched of each memory that is not forgotten. The server derives it from `memories`.
CREATE TABLE daybook.searched (
    memory bigint PRIMARY KEY REFERENCES daybook.memories (row),
    length integer NOT NULL,                -- words
    type text NOT NULL,
    status text NOT NULL,
    category text NOT NULL,
    updated timestamptz NOT NULL,
    valid_from timestamptz NOT NULL,
    valid_to timestamptz,
    tags text[] NOT NULL,
    touches text[] NOT NULL,
    lexemes tsvector NOT NULL
);
CREATE INDEX searched_words ON daybook.searched USING gin (lexemes);

-- A version's name is computed here, so that nobody can give one text the name of another that was confirmed.
CREATE FUNCTION daybook.name_version() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
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
CREATE TRIGGER name_version BEFORE INSERT OR UPDATE ON daybook.memories
    FOR EACH ROW EXECUTE FUNCTION daybook.name_version();

-- The change is noted by the login that owns the table: no role of a member can write there.
CREATE FUNCTION daybook.note_change() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
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
CREATE TRIGGER note_change AFTER INSERT OR UPDATE ON daybook.memories
    FOR EACH ROW EXECUTE FUNCTION daybook.note_change();

CREATE FUNCTION daybook.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE insufficient_privilege USING MESSAGE = 'what was done stays written';
END $$;
CREATE TRIGGER only_added BEFORE UPDATE OR DELETE OR TRUNCATE ON daybook.changes
    FOR EACH STATEMENT EXECUTE FUNCTION daybook.refuse();

ALTER TABLE daybook.memories ENABLE ROW LEVEL SECURITY;
ALTER TABLE daybook.changes ENABLE ROW LEVEL SECURITY;
ALTER TABLE daybook.members ENABLE ROW LEVEL SECURITY;
ALTER TABLE daybook.team ENABLE ROW LEVEL SECURITY;

-- A writer's rights include a reader's and a curator's a writer's, because each role is a member of the other.
CREATE POLICY read_living ON daybook.memories FOR SELECT TO daybook_reader
    USING (forgotten_at IS NULL OR author = (SELECT daybook.member()));
CREATE POLICY read_forgotten ON daybook.memories FOR SELECT TO daybook_curator USING (true);
CREATE POLICY add_own ON daybook.memories FOR INSERT TO daybook_writer
    WITH CHECK (author = (SELECT daybook.member()) AND confirmed_by = '' AND forgotten_at IS NULL);
CREATE POLICY change_own ON daybook.memories FOR UPDATE TO daybook_writer
    USING (author = (SELECT daybook.member())) WITH CHECK (author = (SELECT daybook.member()));
CREATE POLICY change_any ON daybook.memories FOR UPDATE TO daybook_curator USING (true);
-- The history of a memory is seen by who sees the memory.
CREATE POLICY read_changes ON daybook.changes FOR SELECT TO daybook_reader
    USING (EXISTS (SELECT FROM daybook.memories m WHERE m.row = changes.memory));
CREATE POLICY read_team ON daybook.team FOR SELECT TO daybook_reader USING (true);

GRANT USAGE ON SCHEMA daybook TO daybook_reader;
GRANT SELECT ON daybook.memories, daybook.changes, daybook.searched, daybook.team TO daybook_reader;
GRANT INSERT (id, said, author), UPDATE (said, forgotten_at) ON daybook.memories TO daybook_writer;
GRANT UPDATE (confirmed_by, confirmed_digest) ON daybook.memories TO daybook_curator;
