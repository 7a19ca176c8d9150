"""The API server's error answers: Status objects with its own reasons and wording."""

from __future__ import annotations

from typing import Any

REASONS = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    405: "MethodNotAllowed",
    410: "Expired",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}
MESSAGES = {
    401: "Unauthorized",
    404: "the server could not find the requested resource",
    405: "the server does not allow this method on the requested resource",
    410: (
        "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue "
        "parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided "
        "token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was "
        "returned and now may show up in the list."
    ),
    429: "Too many requests, please try again later.",
    500: "Internal error occurred: etcdserver: request timed out",
    503: "the server is currently unable to handle the request",
    504: "Timeout: request did not complete within the allotted timeout",
}


class ApiError(Exception):
    """An answer that isn't a success: the HTTP code and the Status that explains it."""

    def __init__(self, code: int, message: str = "", details: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.status = failure(code, message, details)


def failure(code: int, message: str = "", details: dict[str, Any] | None = None) -> dict[str, Any]:
    """A Status of kind Failure; without a message it has the one the API server uses for this code."""
    details = details or ({"retryAfterSeconds": 1} if code == 429 else None)
    status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
    return {
        **status,
        "message": message or MESSAGES.get(code, f"the server answered {code}"),
        "reason": REASONS.get(code, ""),
        **({"details": details} if details else {}),
        "code": code,
    }


def not_found(plural: str, group: str, name: str) -> ApiError:
    """404 for a named object: `daemonsets.apps "x" not found`."""
    full = f"{plural}.{group}" if group else plural
    details = {"name": name, **({"group": group} if group else {}), "kind": plural}
    return ApiError(404, f'{full} "{name}" not found', details)


def forbidden(verb: str, resource: str, group: str, name: str, ns: str, user: str = "oncall") -> ApiError:
    """403 in RBAC's words. `resource` may be a subresource (`pods/log`); without `name` it is about the collection."""
    plural = resource.partition("/")[0]
    full = f"{plural}.{group}" if group else plural
    what = f'{full} "{name}"' if name else full
    where = f'in the namespace "{ns}"' if ns else "at the cluster scope"
    message = f'{what} is forbidden: User "{user}" cannot {verb} resource "{resource}" in API group "{group}" {where}'
    details = {**({"name": name} if name else {}), **({"group": group} if group else {}), "kind": plural}
    return ApiError(403, message, details)
