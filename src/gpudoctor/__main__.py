"""`python -m gpudoctor`."""

from gpudoctor.cli.main import main

if __name__ == "__main__":
    main()
