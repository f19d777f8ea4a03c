"""Answers that say something about advice in studies with advice, and in all others are as if there were no such thing."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, GetJsonSchemaHandler, SerializerFunctionWrapHandler, model_serializer
from pydantic_core import CoreSchema


class OnlyWithAdvice(BaseModel):
    """An answer with a field `advice`, which is not sent if it is None."""

    @model_serializer(mode="wrap")
    def _as_sent(self, made: SerializerFunctionWrapHandler):  # type: ignore[no-untyped-def] # its schema is the model's
        sent = made(self)
        if sent["advice"] is None:
            del sent["advice"]
        return sent

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """The model's schema, in which advice may be missing."""
        schema = handler.resolve_ref_schema(handler(core))
        schema["required"] = [name for name in schema["required"] if name != "advice"]
        return schema
