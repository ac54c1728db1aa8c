use openapi::apis::{agents_api, calls_api, configuration::Configuration, deliveries_api, subscriptions_api, Error};
use openapi::models::*;
use std::collections::{HashMap, HashSet};
use std::time::Duration;

const AGENT: &str = "sip:alice@acme.example";

fn env(name: &str) -> String {
    std::env::var(name).unwrap()
}

async fn token() -> String {
    let form = [("grant_type", "client_credentials"), ("client_id", "acme-app"), ("client_secret", "acme-secret"), ("scope", "switchhook/.default")];
    let answer = reqwest::Client::new().post(env("TOKEN_URL")).form(&form).send().await.unwrap();
    let body: serde_json::Value = answer.json().await.unwrap();
    body["access_token"].as_str().unwrap().to_owned()
}

fn client_of(address: String, token: &str) -> Configuration {
    Configuration { base_path: address, bearer_access_token: Some(token.to_owned()), ..Default::default() }
}

/// Generated functions do not show the header Next-Cursor.
async fn subscriptions(client: &Configuration, cursor: Option<&str>) -> reqwest::Result<(Vec<Subscription>, Option<String>)> {
    let address = format!("{}/api/v1/webhooks/subscriptions?limit=1", client.base_path);
    let token = client.bearer_access_token.as_deref().unwrap_or_default();
    let answer = client.client.get(address).query(&[("cursor", cursor)]).bearer_auth(token).send().await?.error_for_status()?;
    let next = answer.headers().get("Next-Cursor").map(|cursor| cursor.to_str().unwrap().to_owned());
    Ok((answer.json().await?, next))
}

async fn parked(client: &Configuration, id: &str, run: i32) -> DeliverySummary {
    for _ in 0..100 {
        let since = (chrono::Utc::now() - chrono::Duration::hours(1)).fixed_offset();
        let page = deliveries_api::list_deliveries(client, id, Some("parked"), Some(since), None, None, None, None, None).await.unwrap();
        if let Some(item) = page.items.into_iter().find(|item| item.run >= run) {
            return item;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    panic!("no delivery was parked")
}

#[tokio::main]
async fn main() {
    let token = token().await;
    let client = client_of(env("API"), &token);

    let mut input = SubscriptionInput::new(vec![SubscribedType::CallStatus]);
    input.url = Some(Some(env("HOOK")));
    input.description = Some(Some("rust".into()));
    input.filter = Some(Some(HashMap::from([("call.status".into(), HashMap::from([("state".into(), vec![7.into()])]))])));
    let created = subscriptions_api::create_subscription(&client, input, None).await.unwrap();
    let mut pull = SubscriptionInput::new(vec![SubscribedType::AgentStatus]);
    pull.mode = Some(subscription_input::Mode::Pull);
    let other = subscriptions_api::create_subscription(&client, pull, None).await.unwrap();
    let mut listed = HashSet::new();
    let mut cursor: Option<String> = None;
    loop {
        let (page, next) = subscriptions(&client, cursor.as_deref()).await.unwrap();
        listed.extend(page.iter().map(|one| one.id));
        cursor = next;
        if cursor.is_none() {
            break;
        }
    }
    assert!(listed.contains(&created.id) && listed.contains(&other.id));

    let change = SubscriptionChange { description: Some(Some("changed".into())), ..Default::default() };
    let changed = subscriptions_api::change_subscription(&client, &created.id.to_string(), change, None, None).await.unwrap();
    assert_eq!((changed.description.as_deref(), &changed.event_types, &changed.filter), (Some("changed"), &created.event_types, &created.filter));

    let dial = DialCommand::new(AGENT.into(), "+15550101".into());
    let accepted = calls_api::dial(&client, dial, Some(&uuid::Uuid::new_v4().to_string())).await.unwrap();
    assert_eq!(agents_api::read_call_state(&client, AGENT).await.unwrap().agent_uri, AGENT);
    let id = created.id.to_string();
    let first = parked(&client, &id, 1).await;
    assert_eq!(first.attempts[0].status, Some(400));
    let call = calls_api::read_call(&client, &accepted.call_id.to_string()).await.unwrap();
    assert_eq!(call.legs[0].state, CallStateNumber::CALL_STATE_ENDED as i32);
    let presence = agents_api::set_presence(&client, AGENT, PresenceSetting::new("66".into()), None).await.unwrap();
    assert_eq!(presence.status_code, 66);
    agents_api::set_presence(&client, AGENT, PresenceSetting::new("2".into()), None).await.unwrap();

    let mut legs = HashSet::new();
    let mut cursor: Option<String> = None;
    loop {
        let page = calls_api::list_calls(&client, None, None, Some(1), cursor.as_deref()).await.unwrap();
        legs.extend(page.items.iter().map(|leg| leg.call_id.to_string()));
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert!(legs.contains(&accepted.call_id.to_string()));

    let original = calls_api::read_call(&client, &env("ORIGINAL_CALL")).await.unwrap().legs[0].consultation.clone().unwrap();
    assert_eq!((original.call_id.unwrap().to_string(), original.target.unwrap()), (env("CONSULTATION_CALL"), env("TARGET")));
    let call = calls_api::read_call(&client, &env("CONSULTATION_CALL")).await.unwrap();
    let consultation = call.legs[0].consultation.clone().unwrap();
    assert_eq!((consultation.for_call_id.unwrap().to_string(), consultation.call_id), (env("ORIGINAL_CALL"), None));
    assert_eq!(deliveries_api::read_policy(&client).await.unwrap().retention.parked_ms, 30 * 86_400_000);

    assert_eq!(deliveries_api::redeliver(&client, &first.delivery_id.to_string(), None).await.unwrap().run, 2);
    parked(&client, &id, 2).await;
    assert_eq!(deliveries_api::preview_recovery(&client, &id, RecoveryInput::new()).await.unwrap().count, 1);
    assert_eq!(deliveries_api::recover(&client, &id, RecoveryInput::new(), None).await.unwrap().found, 1);

    match subscriptions_api::read_subscription(&client, &uuid::Uuid::new_v4().to_string()).await {
        Err(Error::ResponseError(answer)) => {
            let problem: Problem = serde_json::from_str(&answer.content).unwrap();
            assert_eq!((answer.status.as_u16(), problem.code.as_str()), (404, "subscription-not-found"));
        }
        other => panic!("{other:?}"),
    }

    let later = client_of(env("CHANGED_API"), &token);
    assert_eq!(agents_api::read_agent_state(&later, AGENT).await.unwrap().device_status, 99);
    assert_eq!(subscriptions_api::read_subscription(&later, &id).await.unwrap().health.state, "later");
    assert!(!deliveries_api::list_deliveries(&later, &id, Some("any"), None, None, None, None, None, None).await.unwrap().items.is_empty());
    assert!(!calls_api::list_calls(&later, None, None, None, None).await.unwrap().items.is_empty());

    for one in [created.id, other.id] {
        subscriptions_api::delete_subscription(&client, &one.to_string(), None, None).await.unwrap();
    }
}
