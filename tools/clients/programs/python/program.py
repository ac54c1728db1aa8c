import os
import time
import uuid
from datetime import datetime, timedelta, timezone

import openapi_client as api
import urllib3

AGENT = "sip:alice@acme.example"


def token() -> str:
    form = {"grant_type": "client_credentials", "client_id": "acme-app", "client_secret": "acme-secret", "scope": "switchhook/.default"}
    return urllib3.PoolManager().request("POST", os.environ["TOKEN_URL"], fields=form, encode_multipart=False).json()["access_token"]


def client_of(address: str) -> api.ApiClient:
    return api.ApiClient(api.Configuration(host=address, access_token=TOKEN))


def parked(subscription: uuid.UUID, run: int) -> api.DeliverySummary:
    for _ in range(100):
        since = datetime.now(timezone.utc) - timedelta(hours=1)
        page = deliveries.list_deliveries(subscription, state="parked", var_from=since)
        for item in page.items:
            if item.run >= run:
                return item
        time.sleep(0.2)
    raise AssertionError("no delivery was parked")


TOKEN = token()
client = client_of(os.environ["API"])
subscriptions, deliveries, agents, calls = api.SubscriptionsApi(client), api.DeliveriesApi(client), api.AgentsApi(client), api.CallsApi(client)

created = subscriptions.create_subscription(
    api.SubscriptionInput(url=os.environ["HOOK"], event_types=["call.status"], description="python", filter={"call.status": {"state": [7, {"prefix": "x"}][:1]}})
)
other = subscriptions.create_subscription(api.SubscriptionInput(mode="pull", event_types=["agent.status"]))

listed, cursor = set(), None
while True:
    page = subscriptions.list_subscriptions_with_http_info(limit=1, cursor=cursor)
    listed |= {one.id for one in page.data}
    cursor = {name.lower(): value for name, value in page.headers.items()}.get("next-cursor")
    if cursor is None:
        break
assert {created.id, other.id} <= listed, "list over pages"

changed = subscriptions.change_subscription(created.id, api.SubscriptionChange(description="changed"))
assert changed.description == "changed" and changed.event_types == ["call.status"] and changed.filter == created.filter, changed

accepted = calls.dial(api.DialCommand(agent_uri=AGENT, destination="+15550101"), idempotency_key=str(uuid.uuid4()))
assert agents.read_call_state(AGENT).agent_uri == AGENT
first = parked(created.id, 1)
assert first.attempts[0].status == 400
assert calls.read_call(accepted.call_id).legs[0].state == api.CallStateNumber.CALL_STATE_ENDED
assert agents.set_presence(AGENT, api.PresenceSetting(status_code="66")).status_code == 66
agents.set_presence(AGENT, api.PresenceSetting(status_code="2"))

original = calls.read_call(uuid.UUID(os.environ["ORIGINAL_CALL"])).legs[0].consultation
assert str(original.call_id) == os.environ["CONSULTATION_CALL"] and original.target == os.environ["TARGET"], original
consultation = calls.read_call(original.call_id).legs[0].consultation
assert str(consultation.for_call_id) == os.environ["ORIGINAL_CALL"] and consultation.call_id is None, consultation
assert deliveries.read_policy().retention.parked_ms == 30 * 86_400_000

assert deliveries.redeliver(first.delivery_id).run == 2
parked(created.id, 2)
assert deliveries.preview_recovery(created.id, api.RecoveryInput()).count == 1
assert deliveries.recover(created.id, api.RecoveryInput()).found == 1

try:
    subscriptions.read_subscription(uuid.uuid4())
    raise AssertionError("no error")
except api.ApiException as error:
    assert error.status == 404 and error.data.code == "subscription-not-found", error

later = client_of(os.environ["CHANGED_API"])
assert api.AgentsApi(later).read_agent_state(AGENT).device_status == 99
assert api.SubscriptionsApi(later).read_subscription(created.id).health.state == "later"
assert api.DeliveriesApi(later).list_deliveries(created.id, state="any").items
assert api.CallsApi(later).list_calls().items

for one in (created, other):
    subscriptions.delete_subscription(one.id)
