from __future__ import annotations

import pytest
from pydantic import TypeAdapter, ValidationError

from evaluators.model.roles import Role, kinds_of, place_of
from provisioning.resource import DESKTOP, ResourceSpec

ROLES = TypeAdapter(dict[str, Role])


@pytest.mark.parametrize(
    ("written", "spec"),
    [
        ("desktop", ResourceSpec(DESKTOP)),
        ({"kind": "desktop"}, ResourceSpec(DESKTOP)),
        ({"kind": "desktop", "image": "debian-12"}, ResourceSpec(DESKTOP, "debian-12")),
        ({"kind": "world", "parameters": {"seed": 7}}, ResourceSpec("world", "", {"seed": 7})),
    ],
)
def test_both_forms_are_read_and_the_shortest_is_written(
    written: object, spec: ResourceSpec
) -> None:
    read = ROLES.validate_python({"one": written})
    assert read == {"one": spec}
    dumped = ROLES.dump_python(read, mode="json")
    assert dumped == {"one": spec.kind if spec == ResourceSpec(spec.kind) else written}
    assert ROLES.validate_python(dumped) == read
    assert ROLES.validate_python(read) == read


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("desktpo", "no kind of resource called 'desktpo'. Did you mean desktop?"),
        ({"kind": "sofa"}, "Known: desktop, phone, world."),
        ({"kind": "desktop", "imgae": "x"}, "no key 'imgae' here. Did you mean 'image'?"),
        ({"kind": "desktop", "image": "a b"}, "should match pattern"),
        ({"image": "debian-12"}, "Field required"),
        ({"kind": "phone", "parameters": {"a": 1}}, "A phone has no parameter 'a'. Known: none."),
        (3, "valid dictionary"),
    ],
)
def test_mistakes_are_named(written: object, message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        ROLES.validate_python({"one": written})
    assert message in str(caught.value)


def test_the_place_of_a_role_is_its_kind() -> None:
    roles = {"one": ResourceSpec(DESKTOP, "debian-12")}
    assert kinds_of(roles) == {"one": "desktop"}
    assert (place_of(roles, "one"), place_of(roles, None), place_of(roles, "two")) == (
        "desktop",
        "session",
        None,
    )
