import pytest
from pydantic import SecretStr

from dormouse.adapters.blob_store.s3 import S3BlobStore
from dormouse.errors import MisconfiguredError
from dormouse.server_settings import S3Settings


@pytest.mark.parametrize(
    ("settings", "setting"),
    [
        (S3Settings(), "S3__BUCKET"),
        (S3Settings(bucket="memory", access_key=SecretStr("key")), "S3__SECRET_KEY"),
        (S3Settings(bucket="memory", secret_key=SecretStr("s3cret")), "S3__SECRET_KEY"),
    ],
)
def test_what_cannot_work_is_refused_by_the_name_of_its_setting(settings: S3Settings, setting: str) -> None:
    with pytest.raises(MisconfiguredError) as told:
        S3BlobStore(settings)

    assert told.value.setting == setting
    assert str(told.value).startswith(f"DORMOUSE_{setting} ")
    assert "s3cret" not in str(told.value)
