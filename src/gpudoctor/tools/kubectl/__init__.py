"""Every way in which kubectl prints objects of the API: get, describe, events, jsonpath and custom columns, manifests and parts of them."""
