"""Records that one memory stands for are parted when they no longer say the same: else one would be lost."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime

from mcp_server.actions.exchange.imports.existing import ExistingMemories
from mcp_server.actions.exchange.imports.plan import Around, Plan, build, choose_id, has_moved_on
from mcp_server.core.memory_parts import fingerprint


def part(plans: Sequence[Plan], around: Around, existing: ExistingMemories, now: datetime) -> None:
    """
    Give each of *plans* a memory of its own whose record parts from the one that it shared.

    It shared that with a memory from here, or with another record of the source: one that was copied, or that
    was moved away so that another one begins in its place.
    """
    parting = {plan.record.key for plan in _from_other_records(plans, around, now)}
    for plan in plans:
        has_moved = plan.last_import and has_moved_on(plan, build(plan, around, now)[0])
        if has_moved or plan.record.key in parting:
            plan.last_import = plan.holder = None
            choose_id(plan, existing, now)
            around.ids[plan.record.key] = plan.id


def _from_other_records(plans: Sequence[Plan], around: Around, now: datetime) -> Iterator[Plan]:
    """
    Yield the plans whose records part from other records with the same memory.

    It stays with the record that says what it says, else with the one that it was made of. The former becomes
    the one that it is made of, so that a later change of it is one of the memory.
    """
    sharing: dict[tuple[str, str], list[Plan]] = defaultdict(list)
    for plan in plans:
        if plan.holder and not plan.twin:
            sharing[plan.holder.vault, plan.id].append(plan)
    for together in (plans for plans in sharing.values() if len(plans) > 1):
        holder = together[0].holder
        says_it = [plan for plan in together if holder and _words(plan) == holder.fingerprint]
        made_it = [plan for plan in together if plan.last_import and plan.last_import.own]
        stays = [*says_it, *made_it, *together][0]
        leaves = [plan for plan in together if _words(plan) != _words(stays) and _changed(plan, around, now)]
        if leaves and made_it and not any(plan is stays for plan in made_it):
            stays.last_import, stays.inherits = made_it[0].last_import, True
        yield from leaves


def _words(plan: Plan) -> str:
    return fingerprint(plan.title, plan.text)


def _changed(plan: Plan, around: Around, now: datetime) -> bool:
    """Tell whether a record is new, or says something else than at its last import."""
    last_import = plan.last_import
    return not last_import or last_import.digest != plan.digest(build(plan, around, now)[0])
