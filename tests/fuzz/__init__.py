"""What the world may hand to parsers, recognisers and the whole of `analyze`: samples, changed at random, a million of them."""
