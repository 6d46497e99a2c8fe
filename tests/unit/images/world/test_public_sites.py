"""Map, code hosting, documentation, news and pictures of a world, with the data of a persona."""

from __future__ import annotations

import io
import json
import re
import tarfile
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from starlette.testclient import TestClient

from foundation.settings import REPOSITORY
from images.world.program.sites.application import make_application
from images.world.program.sites.clock import WorldClock
from images.world.program.sites.public.maps import Atlas
from images.world.program.sites.public.news import rates
from provisioning.world.persona.persona import Persona, persona
from provisioning.world.persona.words.sites import HOSTS, MAPS, NEWS
from provisioning.world.state.accounts import account_files
from provisioning.world.state.archive import pack
from provisioning.world.state.shop import shop_files
from provisioning.world.state.sites import site_files

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.applications import Starlette

SOMEONE = persona(7)


def unpack(folder: Path, someone: Persona) -> Path:
    archive = pack([*shop_files(someone), *account_files(someone), *site_files(someone)])
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        tar.extractall(folder, filter="data")
    for standard in ("3166-1", "3166-2", "4217", "639-2"):
        (folder / f"iso_{standard}.json").write_text(json.dumps({standard: []}))
    return folder


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return unpack(tmp_path, SOMEONE)


@pytest.fixture
def application(state: Path) -> Starlette:
    return make_application(state, str(state))


def visit(application: Starlette, host: str) -> TestClient:
    return TestClient(application, base_url=f"http://{host}")


def sign_in(client: TestClient) -> None:
    person = SOMEONE.person
    assert client.post("/sign-in", data={"email": person.email, "password": "x"}).status_code == 403
    form = {"email": person.email, "password": person.password, "after": "//elsewhere.example/"}
    reply = client.post("/sign-in", data=form, follow_redirects=False)
    assert (reply.status_code, reply.headers["Location"]) == (303, "/")


def test_the_map_finds_places_and_the_shortest_route(application: Starlette, state: Path) -> None:
    client, home = visit(application, MAPS), SOMEONE.person.home
    assert home.street in client.get("/search", params={"q": home.postcode}).text
    assert (
        f"{home.town} Library" in client.get("/search", params={"q": f"library {home.town}"}).text
    )
    atlas = Atlas(state / "sites" / "maps.json")
    towns = list(atlas.towns)
    page = client.get("/directions", params={"from": home.postcode, "to": towns[-1]}).text
    legs = atlas.route(home.town, towns[-1])
    assert f"{round(sum(leg.km for leg in legs), 1)} km" in page
    for town in towns:
        there, back = atlas.route(home.town, town), atlas.route(town, home.town)
        assert round(sum(leg.km for leg in there), 6) == round(sum(leg.km for leg in back), 6)
        assert bool(there) is (town != home.town)
        for other in towns:
            direct = sum(leg.km for leg in atlas.route(home.town, other))
            further = sum(leg.km for leg in (*there, *atlas.route(town, other)))
            assert direct <= further + 1e-6
    assert (
        "not on the map" in client.get("/directions", params={"from": "Atlantis", "to": "x"}).text
    )


def test_pages_that_the_person_visited_exist(application: Starlette) -> None:
    urls = {visit.url for visit in SOMEONE.visits if urlsplit(visit.url).hostname in {NEWS, MAPS}}
    assert len(urls) > 20
    for url in urls:
        parts = urlsplit(url)
        client = visit(application, str(parts.hostname))
        assert client.get(f"{parts.path}?{parts.query}").status_code == 200
    assert visit(application, NEWS).get("/nothing").status_code == 404


def test_news_are_found_by_section_and_word_and_rates_change(application: Starlette) -> None:
    client = visit(application, NEWS)
    assert "School choir wins prize" in client.get("/", params={"q": "choir prize"}).text
    assert "No article" in client.get("/", params={"q": "no such words"}).text
    assert rates(7, 1) == rates(7, 1) != rates(7, 2)
    assert rates(7, 1) != rates(8, 1)
    minute = int(SOMEONE.now.timestamp()) // 60
    shown = re.findall(r'id="gbp">([0-9.]+)<', client.get("/").text)
    assert shown[0] in {rates(7, minute)["GBP"], rates(7, minute + 1)["GBP"]}


def test_stars_and_issues_are_kept_in_the_state(application: Starlette, state: Path) -> None:
    client = visit(application, "code.example")
    owner, name = re.findall(r'href="/([a-z-]+)/([a-z-]+)"', client.get("/").text)[0]
    path = state / "sites" / "code" / f"{owner}--{name}.json"
    before = json.loads(path.read_text())
    asked = client.post(f"/{owner}/{name}/star", follow_redirects=False)
    assert asked.headers["Location"].startswith("/sign-in?after=")
    assert json.loads(path.read_text()) == before
    sign_in(client)
    client.post(f"/{owner}/{name}/star")
    client.post(f"/{owner}/{name}/issues", data={"title": "<b>Odd</b>", "text": "Look"})
    after = json.loads(path.read_text())
    assert after["stars"] - before["stars"] == (-1 if before["is_starred"] else 1)
    number = after["issues"][-1]["number"]
    assert after["issues"][-1]["title"] == "<b>Odd</b>"
    page = client.get(f"/{owner}/{name}/issues").text
    assert "&lt;b&gt;Odd" in page
    form = {"comment": "Fixed", "action": "close"}
    client.post(f"/{owner}/{name}/issues/{number}", data=form)
    assert json.loads(path.read_text())["issues"][-1]["is_open"] is False
    assert "Fixed" in client.get(f"/{owner}/{name}/issues/{number}").text
    manual = visit(application, "docs.example").get(f"/{name}").text
    assert all(option["default"] in manual for option in after["options"])
    assert visit(application, "docs.example").get("/nothing").status_code == 404
    control = visit(application, "control").get("/code/repositories").json()
    assert after["stars"] in {row["stars"] for row in control if row["name"] == name}


def test_pictures_are_those_of_the_person(application: Starlette) -> None:
    client = visit(application, "pictures.example")
    photo = SOMEONE.photos.last()
    asked = client.get(f"/photo/{photo.id}", follow_redirects=False)
    assert asked.headers["Location"] == f"/sign-in?after=/photo/{photo.id}"
    sign_in(client)
    assert photo.caption in client.get(f"/photo/{photo.id}").text
    image = client.get(f"/image/{photo.id}")
    assert image.headers["Content-Type"] == "image/svg+xml"
    assert photo.caption in image.text
    client.post(f"/photo/{photo.id}")
    assert photo.id in client.get("/search", params={"favourites": "1"}).text
    assert visit(application, "control").get("/pictures/favourites").json() == [photo.id]
    client.post(f"/photo/{photo.id}")
    assert visit(application, "control").get("/pictures/favourites").json() == []
    known = {contact.id: contact.name for contact in SOMEONE.contacts}
    shown = next(photo for photo in SOMEONE.photos if photo.people)
    assert shown.id in client.get("/search", params={"q": known[shown.people[0]]}).text


def test_another_seed_has_other_repositories_and_the_same_seed_the_same() -> None:
    def data(seed: int) -> dict[str, bytes]:
        return {file.path: file.data for file in site_files(persona(seed))}

    assert data(7) == data(7)
    first, second = data(7), data(8)
    assert not {path for path in first if "code/" in path} & set(second)
    assert first["sites/news.json"] != second["sites/news.json"]


def test_each_host_of_a_site_is_passed_on_by_the_web_server() -> None:
    text = (REPOSITORY / "images/world/etc/apache.conf").read_text()
    assert all(host in text for host in HOSTS)


def test_the_clock_of_a_world_starts_at_the_present() -> None:
    clock = WorldClock("2026-03-31T14:30:00+00:00")
    start = datetime.fromisoformat("2026-03-31T14:30:00+00:00")
    assert start <= clock.now < start + timedelta(minutes=1)
