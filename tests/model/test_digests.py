import hashlib
import json
import os

import pytest

from wyoming_moss_nano.errors import BundleError
from wyoming_moss_nano.model.digests import DigestStore


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "weights.data"
    path.write_bytes(b"weights")
    return path


def forge(store_file, digest="kept"):
    """Replace every kept digest, so that a look-up shows whether the file was hashed again."""
    kept = json.loads(store_file.read_bytes())
    store_file.write_text(json.dumps({path: [*entry[:2], digest] for path, entry in kept.items()}))


def test_a_digest_is_kept_between_runs(file, tmp_path):
    kept = tmp_path / "data" / "digests.json"
    assert DigestStore(kept).sha256(file) == hashlib.sha256(b"weights").hexdigest()

    forge(kept)

    assert DigestStore(kept).sha256(file) == "kept"


def test_a_changed_file_is_hashed_again(file, tmp_path):
    kept = tmp_path / "digests.json"
    DigestStore(kept).sha256(file)
    forge(kept)

    file.write_bytes(b"others!")
    os.utime(file, ns=(1, 1))

    assert DigestStore(kept).sha256(file) == hashlib.sha256(b"others!").hexdigest()


@pytest.mark.parametrize("content", ["", "[]", "{", '{"a": 1}', '{"a": ["x", "y", "z"]}'])
def test_a_damaged_store_starts_empty(file, tmp_path, content):
    kept = tmp_path / "digests.json"
    kept.write_text(content)

    assert DigestStore(kept).sha256(file) == hashlib.sha256(b"weights").hexdigest()


def test_a_store_that_cannot_be_written_does_not_stop_the_reading(file, tmp_path):
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where a folder should be")

    assert DigestStore(blocked / "digests.json").sha256(file)


def test_a_file_that_is_missing_is_named(tmp_path):
    with pytest.raises(BundleError, match="nothing here"):
        DigestStore().sha256(tmp_path / "nothing here")
