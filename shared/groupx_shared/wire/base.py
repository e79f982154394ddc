"""The two bases of all wire models; the alias rule lives here only."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class WireModel(BaseModel):
    """A reply or event: immutable, camelCase on the wire, unknown keys ignored on read."""

    model_config = ConfigDict(
        frozen=True,
        alias_generator=to_camel,
        populate_by_name=True,
        extra="ignore",
        defer_build=True,  # a start needs few of them
        use_enum_values=False,
    )

    def to_wire(self) -> bytes:
        """Encode as JSON with wire names; None fields are left out."""
        return self.model_dump_json(by_alias=True, exclude_none=True).encode()


class RequestModel(WireModel):
    """A request body: as `WireModel`, but an unknown key or a wrong type is refused."""

    model_config = ConfigDict(extra="forbid", strict=True)
