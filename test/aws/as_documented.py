"""MiniStack, with a condition key that it does not know: dynamodb:LeadingKeys.

Its evaluation of policies is its own; this only adds the key to what it knows of a request, as AWS documents it: the
partition keys that a request names, and for a query of an index the partition key of the index.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/specifying-conditions.html
"""

import json
import re

from ministack.app import app  # noqa: F401  what the server runs
from ministack.core import iam_actions

PARTITION_KEY = "pk"
EQUALITY = re.compile(r"[#\w]+\s*=\s*(:\w+)")

known = iam_actions.dynamodb_service_context


def leading_key(request):
    item = request.get("Key") or request.get("Item")
    if item:
        return item[PARTITION_KEY]["S"]
    equality = EQUALITY.search(request.get("KeyConditionExpression", ""))
    return equality and request["ExpressionAttributeValues"][equality[1]]["S"]


def with_leading_keys(body):
    key = leading_key(json.loads(body or b"{}"))
    return {**known(body), **({"dynamodb:LeadingKeys": [key]} if key else {})}


# The application looks it up at every request.
iam_actions.dynamodb_service_context = with_leading_keys
