"""The shop's tests: many pass, the tax rule does not hold for every amount."""

import pytest
from prices import VAT, discounted, gross_total, net_total


@pytest.mark.parametrize("quantity", range(1, 61))
def test_a_total_is_price_times_quantity(quantity):
    assert net_total([(250, quantity)]) == 250 * quantity


@pytest.mark.parametrize("percent", range(60))
def test_a_discount_never_raises_the_price(percent):
    assert discounted(1999, percent) <= 1999


@pytest.mark.parametrize("country", sorted(VAT))
@pytest.mark.parametrize("total", [100, 250, 1000, 1999, 2500, 10000])
def test_tax_is_rounded_half_up(total, country):
    rate = round(VAT[country] * 1000)
    assert gross_total(total, country) == (total * (1000 + rate) + 500) // 1000
