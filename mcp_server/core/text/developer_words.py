"""What developers call one thing: a prompt says "prod" or "ship" where a memory has other words."""

import re

_NAMES = """
    prod production live
    staging stg preprod
    dev development local locally localhost
    env environment environments
    deploy release rollout ship deploys deployed deployment deployments releases released releasing roll
    db database databases postgres postgresql mysql sqlite
    schema schemas migration migrations migrate table tables column columns ddl
    k8s kubernetes kubectl cluster clusters helm pod pods
    scale scaling replica replicas autoscaling
    ci cd pipeline pipelines workflow workflows
    auth authentication authorization login signin oauth sso role roles permission permissions rbac
    secret secrets credential credentials creds password passwords key keys token tokens
    config configuration configurations settings setting conf
    repo repository repositories monorepo
    commit commits git branch branches squash rebase
    pr prs mr review reviews reviewer reviewers merge merges merged
    test tests testing spec specs e2e
    dep deps dependency dependencies package packages library libraries lib libs
    upgrade upgrades bump bumped pin pinned version versions
    translate translation translations translated i18n l10n localisation localization locale locales strings
    message messages msg msgs
    frontend fe ui component components widget widgets
    backend server servers
    api apis endpoint endpoints graphql grpc
    job jobs queue queues worker workers async background cron
    log logs logging
    monitoring metrics dashboard dashboards alert alerts alerting oncall pager
    performance perf slow latency timeout timeouts
    doc docs documentation readme
    connection connections conn conns
    function functions func fn
    dir directory directories folder folders
    parameter parameters param params argument arguments args
    timezone timezones tz utc
    privacy gdpr pii
    flag flags feature features toggle toggles
    import imports importing ingest ingestion backfill backfills load loads loading
    duplicate duplicates dedupe dedup
    delete deletes deleted deletion remove removes removed drop drops dropped truncate wipe reset
    rename renames renamed renaming
    cache caches cached caching stale
    infra infrastructure terraform
    image images img
"""
_TOLD = 4  # first names of a thing that are added to a prompt: more would outweigh the prompt


def _of_words() -> dict[str, tuple[str, ...]]:
    """Return each word → the names that are added for its thing."""
    lines = (line.split() for line in _NAMES.splitlines())
    return {word: tuple(names[:_TOLD]) for names in lines for word in names}


_OF_WORDS = _of_words()
_WORD = re.compile(r"[a-z0-9]+")


def with_other_names(text: str) -> str:
    """Return *text*, followed in brackets by other names of the things that it names."""
    things = (_OF_WORDS.get(word) for word in _WORD.findall(text.lower()))
    names = dict.fromkeys(" ".join(names_of_thing) for names_of_thing in things if names_of_thing)
    return f"{text} ({', '.join(names)})" if names else text
