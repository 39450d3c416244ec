"""The viewer opens once, for the person's own browser, and ends when nobody looks."""

from collections.abc import Callable
from datetime import timedelta

from playwright.sync_api import expect

from tests.conftest import Clock, Open
from tests.viewer.conftest import Look, Viewing


def test_the_link_opens_the_page_of_today(look: Look) -> None:
    page = look()
    expect(page.get_by_role("heading", name="Today", level=1)).to_be_visible()
    expect(page).to_have_title("Today · Daybook")


def test_the_viewer_ends_after_thirty_idle_minutes(
    viewing: Callable[..., Viewing], open_here: Open, clock: Clock
) -> None:
    running = viewing(open_here())
    clock.now += timedelta(minutes=31)
    running.wait_for_end()
