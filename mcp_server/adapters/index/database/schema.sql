CREATE TABLE "memories" (
   "row" INTEGER PRIMARY KEY,
   "size" INTEGER NOT NULL,
   "mtime_ns" INTEGER NOT NULL,
   "fingerprint" TEXT,
   "vault" TEXT NOT NULL,
   "id" TEXT NOT NULL,
   "path" TEXT NOT NULL,
   "digest" TEXT NOT NULL,
   "kind" TEXT NOT NULL,
   "type" TEXT NOT NULL,
   "status" TEXT NOT NULL,
   "title" TEXT NOT NULL,
   "text" TEXT,
   "tags" TEXT,
   "source" TEXT,
   "pinned" INTEGER,
   "trust" REAL,
   "category" TEXT,
   "session" TEXT,
   "created" INTEGER,
   "updated" INTEGER,
   "verified" INTEGER,
   "valid_from" INTEGER,
   "valid_to" INTEGER,
   "superseded_by" TEXT,
   "touches" TEXT,
   "instructing" INTEGER,
   "use_when" TEXT,
   "parts" TEXT,
   "notes" TEXT
);

CREATE UNIQUE INDEX "idx_memories_vault_id"
    ON "memories" ("vault", "id");

CREATE UNIQUE INDEX "idx_memories_path"
    ON "memories" ("path");

CREATE INDEX "idx_memories_vault_path_size_mtime_ns"
    ON "memories" ("vault", "path", "size", "mtime_ns");

CREATE INDEX "idx_memories_fingerprint"
    ON "memories" ("fingerprint");

CREATE INDEX "idx_memories_vault_digest"
    ON "memories" ("vault", "digest");

CREATE INDEX "idx_memories_vault_status_kind_type_updated_source"
    ON "memories" ("vault", "status", "kind", "type", "updated", "source");

CREATE INDEX memories_pinned ON memories(vault) WHERE pinned = 1;

CREATE INDEX memories_waiting ON memories(vault) WHERE (source IN ('assistant', 'output', 'seeded') OR instructing = 1);

CREATE TABLE passages (row INTEGER PRIMARY KEY AUTOINCREMENT, memory INTEGER NOT NULL, position INTEGER NOT NULL, text TEXT NOT NULL, parts TEXT NOT NULL);

CREATE INDEX "idx_passages_memory"
    ON "passages" ("memory");

CREATE TABLE "tags" (
   "memory" INTEGER,
   "tag" TEXT,
   PRIMARY KEY ("memory", "tag")
);

CREATE INDEX "idx_tags_tag"
    ON "tags" ("tag");

CREATE TABLE "links" (
   "memory" INTEGER,
   "rel" TEXT,
   "target" TEXT,
   "name" TEXT,
   "notes" TEXT,
   PRIMARY KEY ("memory", "rel", "target")
);

CREATE INDEX "idx_links_target"
    ON "links" ("target");

CREATE INDEX "idx_links_name"
    ON "links" ("name");

CREATE INDEX "idx_links_rel_target_memory"
    ON "links" ("rel", "target", "memory");

CREATE TABLE "names" (
   "memory" INTEGER,
   "name" TEXT,
   PRIMARY KEY ("memory", "name")
);

CREATE INDEX "idx_names_name"
    ON "names" ("name");

CREATE TABLE "unreadable" (
   "path" TEXT PRIMARY KEY,
   "vault" TEXT,
   "size" INTEGER,
   "mtime_ns" INTEGER,
   "line" INTEGER,
   "reason" TEXT
);

CREATE TABLE scopes (scope INTEGER PRIMARY KEY, vault TEXT NOT NULL, status TEXT NOT NULL, kind TEXT NOT NULL, held INTEGER NOT NULL DEFAULT 0, passages INTEGER NOT NULL DEFAULT 0, UNIQUE (vault, status, kind));

CREATE TABLE "scoped" (
   "row" INTEGER PRIMARY KEY,
   "scope" INTEGER,
   "passages" INTEGER
);

CREATE TABLE "pairs" (
   "one" INTEGER,
   "other" INTEGER,
   "nearness" REAL,
   "differs" TEXT,
   "fuller" INTEGER,
   PRIMARY KEY ("one", "other")
);

CREATE INDEX "idx_pairs_other"
    ON "pairs" ("other");

CREATE INDEX "idx_pairs_nearness"
    ON "pairs" ("nearness");

CREATE INDEX pairs_fuller ON pairs(fuller) WHERE fuller > 0;

CREATE TABLE "compared" (
   "memory" INTEGER PRIMARY KEY,
   "model" TEXT
);

CREATE TABLE changes (generation INTEGER PRIMARY KEY AUTOINCREMENT, memory INTEGER NOT NULL, vault TEXT NOT NULL, id TEXT NOT NULL, change TEXT NOT NULL, at INTEGER NOT NULL);

CREATE TABLE "facts" (
   "name" TEXT PRIMARY KEY,
   "value" TEXT
);

CREATE TABLE "vectors" (
   "passage" INTEGER PRIMARY KEY,
   "model" TEXT,
   "embedding" BLOB,
   "signs" BLOB
);

CREATE INDEX "idx_vectors_model"
    ON "vectors" ("model");

CREATE TABLE "elsewhere" (
   "origin" TEXT PRIMARY KEY,
   "place" TEXT,
   "bytes" TEXT,
   "ref" TEXT,
   "digest" TEXT
);

CREATE TABLE "sightings" (
   "candidate" TEXT,
   "session" TEXT,
   "times" INTEGER,
   "at" INTEGER,
   PRIMARY KEY ("candidate", "session")
);

CREATE TABLE "judged" (
   "candidate" TEXT PRIMARY KEY,
   "verdict" TEXT
);

CREATE TABLE "deeds" (
   "row" INTEGER PRIMARY KEY,
   "file" TEXT NOT NULL,
   "offset" INTEGER NOT NULL,
   "at" INTEGER NOT NULL,
   "moment" INTEGER NOT NULL,
   "event" TEXT NOT NULL,
   "ref" TEXT NOT NULL,
   "session" TEXT NOT NULL,
   "detail" TEXT NOT NULL
);

CREATE INDEX "idx_deeds_file_offset"
    ON "deeds" ("file", "offset");

CREATE INDEX "idx_deeds_ref"
    ON "deeds" ("ref");

CREATE INDEX "idx_deeds_session"
    ON "deeds" ("session");

CREATE TABLE "tally" (
   "day" INTEGER,
   "event" TEXT,
   "times" INTEGER,
   PRIMARY KEY ("day", "event")
);

CREATE TABLE "graph_seen" (
   "session" TEXT PRIMARY KEY,
   "told" INTEGER DEFAULT 0,
   "seen" TEXT DEFAULT '{}'
);

CREATE TABLE "imported" (
   "origin" TEXT PRIMARY KEY,
   "ref" TEXT,
   "digest" TEXT,
   "own" INTEGER,
   "what" TEXT,
   "place" TEXT,
   "run" TEXT,
   "change" TEXT,
   "undone_to" TEXT
);

CREATE INDEX "idx_imported_ref"
    ON "imported" ("ref");

CREATE TABLE "moved_refs" (
   "old" TEXT PRIMARY KEY,
   "new" TEXT
);

CREATE INDEX "idx_moved_refs_new"
    ON "moved_refs" ("new");

CREATE TABLE "occasions_asked" (
   "ref" TEXT PRIMARY KEY
);

CREATE TABLE "receipts" (
   "row" INTEGER PRIMARY KEY,
   "answer" INTEGER NOT NULL,
   "at" INTEGER NOT NULL,
   "session" TEXT NOT NULL,
   "why" TEXT NOT NULL,
   "ref" TEXT NOT NULL,
   "score" REAL,
   "tokens" INTEGER NOT NULL,
   "said" TEXT NOT NULL,
   "confident" INTEGER NOT NULL
);

CREATE INDEX "idx_receipts_session_ref"
    ON "receipts" ("session", "ref");

CREATE INDEX "idx_receipts_at"
    ON "receipts" ("at");

CREATE TABLE "prompts" (
   "at" INTEGER,
   "session" TEXT,
   "injected" INTEGER
);

CREATE TABLE "ledger_files" (
   "path" TEXT PRIMARY KEY,
   "offset" INTEGER
);

CREATE TABLE "sessions" (
   "id" TEXT PRIMARY KEY,
   "short" TEXT DEFAULT '',
   "folder" TEXT DEFAULT '',
   "vault" TEXT DEFAULT '',
   "started" INTEGER DEFAULT 0,
   "last" INTEGER DEFAULT 0,
   "ended" INTEGER DEFAULT 0,
   "topic" TEXT DEFAULT '',
   "summary" TEXT DEFAULT '',
   "watermark" TEXT DEFAULT '',
   "forgotten" INTEGER DEFAULT 0
);

CREATE INDEX "idx_sessions_short"
    ON "sessions" ("short");

CREATE TABLE "resolved" (
   "one" TEXT,
   "other" TEXT,
   "said" TEXT,
   "telling" TEXT,
   PRIMARY KEY ("one", "other")
);

CREATE TABLE "life" (
   "ref" TEXT,
   "month" INTEGER,
   "at" INTEGER,
   PRIMARY KEY ("ref", "month")
);

CREATE TABLE "kept" (
   "ref" TEXT PRIMARY KEY
);

CREATE TABLE "calls" (
   "call" TEXT PRIMARY KEY,
   "at" INTEGER,
   "item" TEXT,
   "usd" REAL,
   "settled" INTEGER,
   "outcome" TEXT,
   "tokens" INTEGER DEFAULT 0
);

CREATE INDEX "idx_calls_item"
    ON "calls" ("item");

CREATE TABLE "call_sessions" (
   "session" TEXT,
   "call" TEXT,
   "share" REAL,
   PRIMARY KEY ("session", "call")
);

CREATE TABLE "pauses" (
   "at" INTEGER,
   "until" INTEGER,
   "reason" TEXT,
   "settings" TEXT
);

CREATE TABLE "confirmed_in_team" (
   "digest" TEXT PRIMARY KEY
);

CREATE TABLE "tidied" (
   "run" TEXT,
   "vault" TEXT,
   "step" TEXT,
   "reason" TEXT,
   "changes" TEXT,
   "undone" INTEGER
);

CREATE INDEX "idx_tidied_run"
    ON "tidied" ("run");

CREATE TABLE "tidied_groups" (
   "digest" TEXT PRIMARY KEY
);

CREATE TABLE "put_away" (
   "ref" TEXT PRIMARY KEY,
   "status" TEXT,
   "reason" TEXT,
   "at" INTEGER
);

CREATE TABLE "upkeep" (
   "scope" TEXT PRIMARY KEY,
   "tried" INTEGER DEFAULT 0,
   "at" INTEGER DEFAULT 0,
   "pieces" INTEGER DEFAULT 0,
   "active" INTEGER DEFAULT 0,
   "open" TEXT DEFAULT '',
   "left" INTEGER DEFAULT 0
);

CREATE TABLE "touched" (
   "ref" TEXT,
   "path" TEXT,
   "digest" TEXT,
   "at" INTEGER,
   PRIMARY KEY ("ref", "path")
);

CREATE TABLE "transcripts" (
   "path" TEXT PRIMARY KEY,
   "session" TEXT,
   "folder" TEXT,
   "began" INTEGER,
   "at" INTEGER,
   "ended" INTEGER DEFAULT 0,
   "seen" INTEGER DEFAULT 0,
   "kept" INTEGER DEFAULT 0,
   "learned" INTEGER DEFAULT 0,
   "paid_from" INTEGER DEFAULT 0,
   "before" TEXT DEFAULT '',
   "skipping" INTEGER DEFAULT 0
);

CREATE TABLE "turns" (
   "key" TEXT PRIMARY KEY,
   "path" TEXT,
   "learned" INTEGER
);

CREATE TABLE "transitions" (
   "first" TEXT,
   "second" TEXT,
   "count" INTEGER,
   "at" INTEGER,
   PRIMARY KEY ("first", "second")
);

CREATE TABLE "last_recalls" (
   "session" TEXT PRIMARY KEY,
   "refs" TEXT,
   "at" INTEGER
);

CREATE TABLE "trust_events" (
   "ref" TEXT,
   "at" INTEGER,
   "reason" TEXT,
   "amount" REAL,
   "session" TEXT,
   "note" TEXT
);

CREATE INDEX "idx_trust_events_ref"
    ON "trust_events" ("ref");

CREATE TABLE "unattended" (
   "run" TEXT PRIMARY KEY,
   "at" INTEGER,
   "told" INTEGER DEFAULT 0
);

CREATE TABLE "usage" (
   "ref" TEXT PRIMARY KEY,
   "accesses" INTEGER DEFAULT 0,
   "last_access" INTEGER DEFAULT 0,
   "retrieved" INTEGER DEFAULT 0,
   "used" INTEGER DEFAULT 0,
   "trust_moved" REAL DEFAULT 0.0,
   "last_confirmed" INTEGER DEFAULT 0,
   "trust_least" REAL DEFAULT 0.0,
   "trust_most" REAL DEFAULT 1.0,
   "promoted" INTEGER DEFAULT 0,
   "counted_from" INTEGER DEFAULT 0,
   "longest_pause" INTEGER DEFAULT 0
);

CREATE INDEX usage_promoted ON usage(promoted) WHERE promoted > 0;

CREATE TABLE "used" (
   "session" TEXT,
   "ref" TEXT,
   "at" INTEGER,
   PRIMARY KEY ("session", "ref")
);

CREATE TABLE "injected" (
   "session" TEXT,
   "ref" TEXT,
   "digest" TEXT,
   PRIMARY KEY ("session", "ref")
);

CREATE TABLE "pointed" (
   "session" TEXT,
   "ref" TEXT,
   "digest" TEXT,
   PRIMARY KEY ("session", "ref")
);

CREATE TABLE "accepted" (
   "digest" TEXT PRIMARY KEY
);

CREATE TABLE "accepted_bytes" (
   "ref" TEXT,
   "digest" TEXT,
   PRIMARY KEY ("ref", "digest")
);
