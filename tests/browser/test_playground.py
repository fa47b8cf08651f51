"""The pages that run the specification: programs, sessions of the cache, levels.

Cites: level.bind, cache.event.first-call, cache.event.hit
"""

from __future__ import annotations

from urllib.parse import quote

import pytest
from browser import sites
from browser.driver import Browser
from browser.sites import SITE, WIDTHS
from browser.test_pages import COVERED, FAINT

from traceir.rules import default

SHOWN = sites.SHOWN and (SITE / "_static" / "playground" / "page.js").is_file()
pytestmark = pytest.mark.skipif(
    not SHOWN, reason="takes Chromium and its driver, npm, and what `make docs` builds"
)
PAGES = ["index", "levels", "cache"]
FILLED = "return document.querySelector('.playground').dataset.filled"
OUT = "return document.querySelector('.out').innerText"
WRITE = """
const place = document.querySelectorAll('.playground textarea')[arguments[0]];
place.value = arguments[1];
place.dispatchEvent(new Event('input'));
"""
# Each primitive's program: its name and what is said, where that is no result.
TRIED = """
const found = {};
for (const primitive of Object.keys(traceirGiven.programs)) {
  const place = document.createElement('div');
  place.dataset.primitive = primitive;
  traceirMount(place, traceirGiven, '');
  const refused = place.querySelector('.refused');
  if (refused || !place.querySelector('.scrolled, .out code')) found[primitive] =
    refused ? refused.textContent : 'nothing';
}
return found;
"""
# Each session, played to its end: what is not done on the page.
PLAYED = """
const found = {};
const options = document.querySelector('.playground select');
for (const {value} of [...options.options].slice(0, -1)) {
  options.value = value;
  options.dispatchEvent(new Event('input'));
  const next = [...document.querySelectorAll('.playground button')]
    .find((b) => b.textContent === 'next event');
  const out = () => document.querySelector('.out').innerText;
  for (let n = 0; n < 50 && !out().includes('at its end'); n++) next.click();
  const refused = document.querySelector('.refused');
  if (refused || !document.querySelector('svg.machine rect.lit'))
    found[value] = refused ? refused.textContent : 'dark';
}
return found;
"""


def opened(window: Browser, address: str, page: str, state: str = "") -> Browser:
    """A page whose scripts have run."""
    window.open("about:blank")
    window.open(f"{address}/playground/{page}.html{state}")
    window.wait(FILLED)
    return window


def test_a_program_is_checked_and_evaluated(light: Browser, address: str) -> None:
    page = opened(light, address, "index")
    assert "Well formed: (f32[3]) → (f32[])" in page.run(OUT)
    page.run(WRITE, 0, "{ lambda ; a:i32[2]. let b:i32[2] = neg a in (b,) }")
    page.run(WRITE, 1, "[1, -2]")
    text = page.wait("const o = " + OUT[7:] + "; return o.includes('i32[2]') && o")
    assert "b:i32[2] = neg a" in text
    assert "[-1, 2]" in text
    assert "neg" in page.run("return location.hash")


def test_what_fails_is_a_rule_that_has_a_place(light: Browser, address: str) -> None:
    program = "{ lambda ; a:f32[2] b:f32[3]. let c:f32[2] = add a b in (c,) }"
    page = opened(light, address, "index", f"#program={quote(program)}")
    assert page.run("return document.querySelectorAll('.refused').length") == 1
    link = page.run("return document.querySelector('.refused a').href")
    file, _, rule = link.removeprefix(f"{address}/").partition("#")
    assert f'id="{rule}"' in (SITE / file).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("transform", "said"),
    [("jvp", "cos a"), ("grad", "cos a"), ("vmap", "sin a"), ("vjp", "cos a")],
)
def test_a_program_is_transformed(
    light: Browser, address: str, transform: str, said: str
) -> None:
    program = "{ lambda ; a:f32[]. let b:f32[] = sin a in (b,) }"
    page = opened(light, address, "index", f"#program={quote(program)}")
    way = page.run(
        "const s = document.querySelector('.playground select');"
        "s.value = [...s.options].find((o) => o.value.startsWith(arguments[0])).value;"
        "s.dispatchEvent(new Event('input')); return s.value;",
        transform,
    )
    text = page.wait(
        "const o = document.querySelector('.out').innerText;"
        "return o.includes('The program of the transform') && o"
    )
    assert said in text
    assert "refused" not in page.page()
    assert quote(way.split(":")[0]) in page.run("return location.hash")


def test_keys_alone_are_enough(light: Browser, address: str) -> None:
    page = opened(light, address, "index")
    page.run("document.querySelector('.playground textarea').focus()")
    page.press("Tab", "Tab")
    assert page.run("return document.activeElement.tagName") == "SELECT"
    page.press("Down")
    page.wait("return document.querySelector('.out').innerText.includes('transform')")


def test_each_primitive_is_tried(light: Browser, address: str) -> None:
    page = opened(light, address, "index")
    found = page.run(TRIED)
    # Its rule says that it is transposed only; of the others only types are computed.
    assert "has no forward-mode derivative" in found.pop("custom_lin")
    assert set(found) <= {"eig", "hessenberg", "random_gamma", "schur"}, found
    assert all(said.startswith("Not computed on this") for said in found.values())
    tried = page.run("return Object.keys(traceirGiven.programs)")
    assert set(tried) == set(default().prims)


def test_a_function_of_the_host_is_called(light: Browser, address: str) -> None:
    program = (
        "{ lambda ; a:f32[2]. let b:f32[2] = pure_callback[callback=total"
        " result_avals=(ShapedArray(float32[2]),) vmap_method=None] a in (b,) }"
    )
    page = opened(light, address, "index", f"#program={quote(program)}")
    assert "Got: (f32[]) of total" in page.run(OUT)
    page.run(WRITE, 0, program.replace("total", "double"))
    page.run(WRITE, 1, "1 2")
    assert page.wait("const o = " + OUT[7:] + "; return o.includes('[2.0, 4.0]') && o")


def test_try_it_beside_a_rule(light: Browser, address: str) -> None:
    light.open(f"{address}/chapters/primitives-cumulative-primitives.html")
    light.run("document.querySelector('#cumsum details.try summary').focus()")
    light.press("Enter")
    light.wait("return document.querySelector('#cumsum .playground').dataset.filled")
    text = light.run("return document.querySelector('#cumsum .out').innerText")
    assert "Well formed" in text
    assert "index\telement" in text
    link = light.run("return document.querySelector('#cumsum .playground > a').href")
    assert link.startswith(f"{address}/playground/index.html#program=")


def test_sessions_are_played(light: Browser, address: str) -> None:
    assert opened(light, address, "cache").run(PLAYED) == {}


def test_a_session_of_one_s_own(light: Browser, address: str) -> None:
    call = "f(f32[]{2})"
    events = quote(f"{call}\n{call} ; clear_cache('f')\n{call} hits")
    state = f"#session=a+session+of+your+own&events={events}&at=4"
    page = opened(light, address, "cache", state)
    text = page.run(OUT)
    events = [row.split("\t")[1] for row in text.split("\n") if row.startswith("f(")]
    assert [event.split()[0] for event in events] == ["traces", "hits", "traces"]
    assert events[-1].endswith("The text says that it hits.")
    assert "cache.event.hit" in text


def test_events_are_edited(light: Browser, address: str) -> None:
    page = opened(light, address, "cache", "#session=a+session+of+your+own")
    page.run(WRITE, 0, "f(f32[2]{1 2})")
    page.wait("return document.querySelector('.out').innerText.includes('Next: f(')")
    page.run(
        "[...document.querySelectorAll('.playground button')]"
        ".find((b) => b.textContent === 'next event').click()"
    )
    assert "traces f32[2]{1.0 4.0}" in page.run(OUT)
    link = page.run("return location.href")
    page.run(WRITE, 0, "f(f32[2]{1})")
    page.wait("return document.querySelector('.out .refused')")
    page.open("about:blank")
    page.open(link)
    page.wait(FILLED)
    assert "traces f32[2]{1.0 4.0}" in page.run(OUT)


def test_an_operation_belongs_to_a_level(light: Browser, address: str) -> None:
    text = opened(light, address, "levels", "#nest=vmap+grad").run(OUT)
    rows = [row.split("\t") for row in text.split("\n") if "\t" in row][1:]
    assert rows[:3] == [
        ["sin", "level 3: grad"],
        ["sin", "level 2: vmap"],
        ["sin", "level 1: make_jaxpr"],
    ]


@pytest.mark.parametrize("page", PAGES)
def test_pages_that_run_are_shown_whole(
    light: Browser, dark: Browser, address: str, page: str
) -> None:
    for window in (light, dark):
        window.open("about:blank")
        window.open(f"{address}/playground/{page}.html", WIDTHS["phone"])
        window.wait(FILLED)
        width = window.run("return document.documentElement.scrollWidth")
        assert width == WIDTHS["phone"]
        assert window.run(FAINT) == []
        assert window.run(COVERED) == []
