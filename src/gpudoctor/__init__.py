"""gpudoctor: diagnoses GPU clusters by executing declarative runbooks."""

__version__ = "0.1.0"
