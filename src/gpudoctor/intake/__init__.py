"""What comes before any tool: files, archives, texts of several outputs, envelopes, several hosts in one text."""
