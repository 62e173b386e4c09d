"""Reading a few fields of a protobuf file without generated code.

Generated modules of other packages demand the very protobuf release they were made with, and ONNX's
needs a package the base install does without. A schema here names only the fields that are read;
protobuf skips all others.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from google.protobuf import descriptor_pb2, descriptor_pool, message, message_factory

from ..errors import BundleError

_FieldType = descriptor_pb2.FieldDescriptorProto
_SCALARS: Final = {"int64": _FieldType.TYPE_INT64, "string": _FieldType.TYPE_STRING}

# message -> field -> (number, type); a type is int64, string or a message, "*" before it: repeated
Schema = Mapping[str, Mapping[str, tuple[int, str]]]


def parse_file(path: Path, schema: Schema, root: str) -> Any:
    """Return the message of type ``root`` that a file holds.

    Raises:
        BundleError: the file is missing, unreadable, cut off or no such message.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise BundleError(f"{path} is missing") from None
    except OSError as error:
        raise BundleError(f"cannot read {path}: {error.strerror}") from error
    parsed = _message_class(schema, root)()
    try:
        parsed.ParseFromString(content)
    except message.DecodeError:
        raise BundleError(f"{path} is cut off or damaged") from None
    return parsed


def _message_class(schema: Schema, root: str) -> Any:
    package = "wyoming_moss_nano"
    file = descriptor_pb2.FileDescriptorProto(
        name=f"{package}.proto", package=package, syntax="proto2"
    )
    for name, fields in schema.items():
        declared = file.message_type.add(name=name)
        for field, (number, kind) in fields.items():
            type_name = kind.removeprefix("*")
            label = _FieldType.LABEL_REPEATED if type_name != kind else _FieldType.LABEL_OPTIONAL
            entry = declared.field.add(name=field, number=number, label=label)
            if type_name in _SCALARS:
                entry.type = _SCALARS[type_name]
            else:
                entry.type = _FieldType.TYPE_MESSAGE
                entry.type_name = f".{package}.{type_name}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.{root}"))
