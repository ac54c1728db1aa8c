import os
import time
import uuid
from datetime import datetime, timedelta, timezone

import httpx
from switchhook_client import AuthenticatedClient
from switchhook_client.api.agents import read_agent_state, read_call_state, set_presence
from switchhook_client.api.calls import dial, list_calls, read_call
from switchhook_client.api.deliveries import list_deliveries, preview_recovery, read_policy, recover, redeliver
from switchhook_client.api.subscriptions import change_subscription, create_subscription, delete_subscription, list_subscriptions, read_subscription
from switchhook_client.models import (
    CallStateNumber,
    DialCommand,
    ListDeliveriesState,
    PresenceSetting,
    Problem,
    RecoveryInput,
    SubscribedType,
    SubscriptionChange,
    SubscriptionChangeFilterType0,
    SubscriptionInput,
    SubscriptionInputFilterType0,
    SubscriptionInputMode,
)

AGENT = "sip:alice@acme.example"

FORM = {"grant_type": "client_credentials", "client_id": "acme-app", "client_secret": "acme-secret", "scope": "switchhook/.default"}
TOKEN = httpx.post(os.environ["TOKEN_URL"], data=FORM).json()["access_token"]
client = AuthenticatedClient(base_url=os.environ["API"], token=TOKEN)


def parked(subscription: uuid.UUID, run: int):
    for _ in range(100):
        since = datetime.now(timezone.utc) - timedelta(hours=1)
        page = list_deliveries.sync(subscription, client=client, state=ListDeliveriesState.PARKED, from_=since)
        for item in page.items:
            if item.run >= run:
                return item
        time.sleep(0.2)
    raise AssertionError("no delivery was parked")


FILTER = {"call.status": {"state": [7]}}
selection = SubscriptionInputFilterType0.from_dict(FILTER)
created = create_subscription.sync(
    client=client, body=SubscriptionInput(url=os.environ["HOOK"], event_types=[SubscribedType.CALL_STATUS], description="python", filter_=selection)
)
other = create_subscription.sync(client=client, body=SubscriptionInput(mode=SubscriptionInputMode.PULL, event_types=[SubscribedType.AGENT_STATUS]))

listed, cursor = set(), {}
while True:
    page = list_subscriptions.sync_detailed(client=client, limit=1, **cursor)
    listed |= {one.id for one in page.parsed}
    if "next-cursor" not in page.headers:
        break
    cursor = {"cursor": page.headers["next-cursor"]}
assert {created.id, other.id} <= listed, "list over pages"

changed = change_subscription.sync(created.id, client=client, body=SubscriptionChange(description="changed"))
assert changed.description == "changed" and changed.event_types == ["call.status"], changed
assert changed.filter_.to_dict() == FILTER
selection = SubscriptionChangeFilterType0.from_dict(FILTER)
assert change_subscription.sync(created.id, client=client, body=SubscriptionChange(filter_=selection)).filter_.to_dict() == FILTER

accepted = dial.sync(client=client, body=DialCommand(agent_uri=AGENT, destination="+15550101"), idempotency_key=str(uuid.uuid4()))
assert read_call_state.sync(AGENT, client=client).agent_uri == AGENT
first = parked(created.id, 1)
assert first.attempts[0].status == 400
assert read_call.sync(accepted.call_id, client=client).legs[0].state == CallStateNumber.CALL_STATE_ENDED
assert set_presence.sync(AGENT, client=client, body=PresenceSetting(status_code="66")).status_code == 66
set_presence.sync(AGENT, client=client, body=PresenceSetting(status_code="2"))

original = read_call.sync(uuid.UUID(os.environ["ORIGINAL_CALL"]), client=client).legs[0].consultation
assert str(original.call_id) == os.environ["CONSULTATION_CALL"] and original.target == os.environ["TARGET"], original
consultation = read_call.sync(original.call_id, client=client).legs[0].consultation
assert str(consultation.for_call_id) == os.environ["ORIGINAL_CALL"] and not consultation.call_id, consultation
assert read_policy.sync(client=client).retention.parked_ms == 30 * 86_400_000

assert redeliver.sync(first.delivery_id, client=client).run == 2
parked(created.id, 2)
assert preview_recovery.sync(created.id, client=client, body=RecoveryInput()).count == 1
assert recover.sync(created.id, client=client, body=RecoveryInput()).found == 1

problem = read_subscription.sync(uuid.uuid4(), client=client)
assert isinstance(problem, Problem) and problem.code == "subscription-not-found", problem

later = AuthenticatedClient(base_url=os.environ["CHANGED_API"], token=TOKEN)
assert read_agent_state.sync(AGENT, client=later).device_status == 99
assert read_subscription.sync(created.id, client=later).health.state == "later"
assert list_deliveries.sync(created.id, client=later, state=ListDeliveriesState.ANY).items
assert list_calls.sync(client=later).items

for one in (created, other):
    delete_subscription.sync_detailed(one.id, client=client)
