"""MiniStack, with two things that it does not do as AWS documents them.

dynamodb:LeadingKeys, a condition key: the partition keys that a request names, and for a query of an index the partition
key of the index. The evaluation of policies is MiniStack's own; this only adds the key to what it knows of a request.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/specifying-conditions.html

The cookies of a request to a function URL: a list of its own in the event, and no header.
https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html#urls-payloads
"""

import json
import re

from ministack.app import app  # noqa: F401  what the server runs
from ministack.core import iam_actions
from ministack.services import lambda_svc

PARTITION_KEY = "pk"
EQUALITY = re.compile(r"[#\w]+\s*=\s*(:\w+)")

known = iam_actions.dynamodb_service_context
function_url_event = lambda_svc._build_function_url_event


def leading_key(request):
    item = request.get("Key") or request.get("Item")
    if item:
        return item[PARTITION_KEY]["S"]
    equality = EQUALITY.search(request.get("KeyConditionExpression", ""))
    return equality and request["ExpressionAttributeValues"][equality[1]]["S"]


def with_leading_keys(body):
    key = leading_key(json.loads(body or b"{}"))
    return {**known(body), **({"dynamodb:LeadingKeys": [key]} if key else {})}


def with_cookies(*args, **options):
    event = function_url_event(*args, **options)
    cookie = event["headers"].pop("cookie", None)
    return {**event, "cookies": cookie.split("; ")} if cookie else event


# The application looks both up at every request.
iam_actions.dynamodb_service_context = with_leading_keys
lambda_svc._build_function_url_event = with_cookies
