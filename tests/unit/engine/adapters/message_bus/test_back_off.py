from dormouse.adapters.message_bus.back_off import FIRST_S, LONGEST_S, BackOff


def test_pauses_grow_to_a_bound_and_begin_anew_after_a_success() -> None:
    back_off = BackOff()

    pauses = [back_off.next_s() for _ in range(40)]
    back_off.restart()

    assert FIRST_S / 2 <= pauses[0] <= FIRST_S
    assert all(LONGEST_S / 2 <= pause <= LONGEST_S for pause in pauses[8:])
    assert back_off.next_s() <= FIRST_S
