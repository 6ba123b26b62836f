import type { SenderName } from '../../cli/senders.ts';

/** When all of these were signed; epoch seconds. */
export const SIGNED_AT = 1_614_265_330;

interface Sent {
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** A request as a sender documents it, and its challenge with the answer that it expects. */
export interface SenderExample extends Sent {
  secret: string;
  challenge?: Sent & { answer: string };
}

/** The signatures were computed by what the senders document, and not with the code of the relay. */
export const senderExamples: Readonly<Record<SenderName, SenderExample>> = {
  airtable: {
    secret: 'azN5LW9mLXRoaXJ0eS10d28tYnl0ZXMtZXhhY3RseSE=',
    headers: {
      'x-airtable-content-mac': 'hmac-sha256=7b1bf2f880ccb4e3a2583e663674e52192d67f06ce08de9547458e066de173a1',
    },
    body: '{"base":{"id":"app00000000000000"},"webhook":{"id":"ach00000000000000"},"timestamp":"2021-02-25T15:02:10.000Z"}',
  },
  asana: {
    secret: 'b537207f20cbfa02357cf448134da559',
    headers: { 'x-hook-signature': '212a04b52933c99020d5df3b80bbb299f9bf6209e87ed5e707e32298702600ca' },
    body: '{"events":[{"user":{"gid":"12"},"action":"changed","resource":{"gid":"1337","resource_type":"task"}}]}',
    challenge: { body: '{}', headers: { 'x-hook-secret': 'b537207f20cbfa02357cf448134da559' }, answer: '' },
  },
  'azure-devops': {
    secret: 'Basic cmVsYXk6YS1sb25nLXBhc3N3b3Jk',
    headers: { authorization: 'Basic cmVsYXk6YS1sb25nLXBhc3N3b3Jk' },
    body: '{"eventType":"build.complete","resource":{"id":2}}',
  },
  bitbucket: {
    secret: 'of-bitbucket-0123456789',
    headers: {
      'x-event-key': 'repo:push',
      'x-hub-signature': 'sha256=150b554418a99dfecfff35e4cfc786075f9c462c2de2c25461b27f9fd5c821ad',
    },
    body: '{"repository":{"full_name":"team/web"},"push":{"changes":[]}}',
  },
  buildkite: {
    secret: 'of-buildkite-0123456789',
    headers: {
      'x-buildkite-event': 'build.finished',
      'x-buildkite-signature':
        'timestamp=1614265330,signature=0691ccfdb42ae36d635babdd069b518dc2ca283ba2713590aa245d3eebc73293',
    },
    body: '{"event":"build.finished","build":{"id":"f62a1b4d","state":"failed"}}',
  },
  calendly: {
    secret: 'of-calendly-0123456789',
    headers: {
      'calendly-webhook-signature': 't=1614265330,v1=c26c5d89493e3a7208d82c9d6a67429cfbcdca6dbaaa831926522ed0dda00258',
    },
    body: '{"event":"invitee.created","payload":{"name":"Ada"}}',
  },
  circleci: {
    secret: 'of-circleci-0123456789',
    headers: { 'circleci-signature': 'v1=3429e59daa6ebb51a07e05056dba9f85b8f0f4408f9ffae1014916340d4ec8ea' },
    body: '{"type":"workflow-completed","id":"3888f21b","workflow":{"status":"failed"}}',
  },
  clerk: {
    secret: 'whsec_azN5LW9mLXRoaXJ0eS10d28tYnl0ZXMtZXhhY3RseSE=',
    headers: {
      'svix-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'svix-timestamp': '1614265330',
      'svix-signature': 'v1,z4DW/0OZoOkHdbSLX8FBYr9sAsQNz+BtNEz/NPx1lxE=',
    },
    body: '{"type":"user.created","object":"event","data":{"id":"user_29w83s"}}',
  },
  elevenlabs: {
    secret: 'wsec_of-elevenlabs-0123',
    headers: {
      'elevenlabs-signature': 't=1614265330,v0=b6e543ce36694184bde7b0023097538df9d3ea07801a3a96a228c5ea228d94a9',
    },
    body: '{"type":"post_call_transcription","data":{"conversation_id":"abc"}}',
  },
  gitea: {
    secret: 'of-gitea-0123456789',
    headers: {
      'x-gitea-event': 'push',
      'x-gitea-signature': '6b11815697955edb9f6955f994f291482738ed7fa771fac5156fbac402516ebc',
    },
    body: '{"ref":"refs/heads/main","after":"bffeb74224043ba2feb48d137756c8a9331c449a"}',
  },
  gitlab: {
    secret: 'of-gitlab-0123456789',
    headers: { 'x-gitlab-event': 'Pipeline Hook', 'x-gitlab-token': 'of-gitlab-0123456789' },
    body: '{"object_kind":"pipeline","object_attributes":{"id":31,"status":"failed"}}',
  },
  grafana: {
    secret: 'of-grafana-0123456789',
    headers: {
      'x-grafana-alerting-timestamp': '1614265330',
      'x-grafana-alerting-signature': '48bd93d7f6a49d89acb1b98fab2b18fa1f5a3ce51f905283908f1a3e672d0cd1',
    },
    body: '{"status":"firing","groupKey":"{}:{alertname=\\"Down\\"}","alerts":[{"fingerprint":"c6eadffa33fcdf37"}]}',
  },
  hubspot: {
    secret: 'yyyyyyyy-yyyy-yyyy-yyyy-yyyyyyyyyyyy',
    headers: {
      'x-hubspot-request-timestamp': '1614265330000',
      'x-hubspot-signature-v3': 'FKgbncDuaXPZTBkT18kWEDSnHgJt4Kv3vPT6AkTY9dQ=',
    },
    body: '[{"eventId":1,"subscriptionType":"contact.creation","objectId":123}]',
  },
  intercom: {
    secret: 'of-intercom-0123456789',
    headers: { 'x-hub-signature': 'sha1=4c42bc949afcac87312c67af810ee3e99a1c972b' },
    body: '{"type":"notification_event","id":"notif_78c122d0","topic":"conversation.user.created"}',
  },
  jira: {
    secret: 'of-jira-0123456789',
    headers: { 'x-hub-signature': 'sha256=d76105e37a88de74df27ca5b5775055b9ed9ccd839539c58e30c30115e577937' },
    body: '{"timestamp":1614265330000,"webhookEvent":"jira:issue_updated","issue":{"id":"99291","key":"JRA-20002"}}',
  },
  linear: {
    secret: 'lin_wh_of-linear-0123',
    headers: { 'linear-signature': 'dda08b3fe3f99f6be94380344e2e974b221325ee2a902aa19fc6b515231ffcf7' },
    body: '{"action":"create","type":"Issue","data":{"id":"2174add1"},"webhookTimestamp":1614265330000}',
  },
  notion: {
    secret: 'secret_of-notion-0123456789',
    headers: { 'x-notion-signature': 'sha256=ca9e6450584e9d114856f48f2acf1a9024664ffb4c8192ee29bdb92af6475079' },
    body: '{"id":"367cba44","type":"page.content_updated","entity":{"id":"153104cd","type":"page"}}',
  },
  openai: {
    secret: 'whsec_azN5LW9mLXRoaXJ0eS10d28tYnl0ZXMtZXhhY3RseSE=',
    headers: {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,cnq5Y43/lk8ZFNSeIn5bYJ4WLCd0r9iraab3h4o0UAI=',
    },
    body: '{"id":"evt_685","type":"response.completed","data":{"id":"resp_123"}}',
  },
  paddle: {
    secret: 'pdl_ntfset_01gkpjp8bkm3tm53kdgkx6sms7_6h3q',
    headers: {
      'paddle-signature': 'ts=1614265330;h1=96f4ba08f89c33127b5b89fa6db1cd884a2debec892df2128b24997a9fb07a7f',
    },
    body: '{"event_id":"evt_01hv8x2axz","event_type":"transaction.completed","data":{"id":"txn_01hv8w"}}',
  },
  pagerduty: {
    secret: 'of-pagerduty-0123456789',
    headers: {
      'x-pagerduty-signature':
        'v1=0be9e86d3f67459000c2d8c17d977b4d7baf9a8aee425a4a337a504a869757d4,v1=5c65674a4c77a84d7db204926dada29867fe9a79b2cb3c6998604b110ea989ed',
    },
    body: '{"event":{"id":"5ac64822","event_type":"incident.triggered","data":{"id":"PGR0VU2"}}}',
  },
  resend: {
    secret: 'whsec_azN5LW9mLXRoaXJ0eS10d28tYnl0ZXMtZXhhY3RseSE=',
    headers: {
      'svix-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'svix-timestamp': '1614265330',
      'svix-signature': 'v1,ZwlA98t7ygxfC6XmksfNRdwJHUy9KHBwCCljAJ46RK4=',
    },
    body: '{"type":"email.bounced","data":{"email_id":"56761188"}}',
  },
  sentry: {
    secret: 'of-sentry-0123456789',
    headers: {
      'sentry-hook-resource': 'event_alert',
      'sentry-hook-signature': '0df8075cbfcf7a69854e7203422f7fc4c60732b76664e293cd800c2fa6455689',
    },
    body: '{"action":"triggered","data":{"event":{"issue_id":"1170820242","title":"Error"}}}',
  },
  shopify: {
    secret: 'of-shopify-0123456789',
    headers: {
      'x-shopify-topic': 'orders/create',
      'x-shopify-hmac-sha256': 'HVuTyMHc5y+S8pGB32y+T1JBeKUnDpUvCr2harxhoVk=',
    },
    body: '{"id":820982911946154508,"email":"ada@example.com"}',
  },
  slack: {
    secret: '8f742231b10e8888abcd99yyyzzz85a5',
    headers: {
      'x-slack-request-timestamp': '1614265330',
      'x-slack-signature': 'v0=d0f8895c83752db1f29b01ad68587b786e5e16d8ad5103f44730fc2267ebbafd',
    },
    body: '{"type":"event_callback","event_id":"Ev08MFMKH6","event":{"type":"message"}}',
    challenge: {
      body: '{"token":"Jhj5dZrVaK7ZwHHjRyZWjbDl","challenge":"3eZbrw1aBm2rZgRNFdxV2595E9CY3gmd","type":"url_verification"}',
      headers: {
        'x-slack-request-timestamp': '1614265330',
        'x-slack-signature': 'v0=62ab48b69fcea8623dda83f1205a4903d5a9216b2fd5acd21018cc47658d0d84',
      },
      answer: '{"challenge":"3eZbrw1aBm2rZgRNFdxV2595E9CY3gmd"}\n',
    },
  },
  stripe: {
    secret: 'whsec_of-stripe-0123456789',
    headers: {
      'stripe-signature':
        't=1614265330,v1=161d5607229c30aa420c46811d87560e7b82a613af95bb24a51ddc69c6632fac,v0=a0c4b66099bd53b364e2527d4c7c60c664352c9f0461b25ed704c8ba2336667f',
    },
    body: '{"id":"evt_1MqqbKLt4dXK03v5qaIbiNCC","object":"event","type":"charge.failed"}',
  },
  terraform: {
    secret: 'of-terraform-0123456789',
    headers: {
      'x-tfe-notification-signature':
        'bfc0bcfadf77fb814884fd1c0272be5dd0f83203256ed622db2f41a8620bb25856e1226a23921aab748fdc1456825dbc4af5f2c8ca57f8ae4bd6c50174e542ed',
    },
    body: '{"payload_version":1,"run_id":"run-FwnENkvDnrpyFC7M","notifications":[{"trigger":"run:errored"}]}',
  },
  twitch: {
    secret: 'of-twitch-0123456789',
    headers: {
      'twitch-eventsub-message-id': 'e76c6bd4-55c9-4987-8304-da1588d8988b',
      'twitch-eventsub-message-timestamp': '2021-02-25T15:02:10.634234626Z',
      'twitch-eventsub-message-type': 'notification',
      'twitch-eventsub-message-signature': 'sha256=2444147988fc90f91926028aeb41890e6077693908afdecf6eae6ccda8dd7800',
    },
    body: '{"subscription":{"id":"f1c2a387"},"event":{"type":"live"}}',
    challenge: {
      body: '{"challenge":"pogchamp-kappa-360noscope-vohiyo","subscription":{"id":"f1c2a387"}}',
      headers: {
        'twitch-eventsub-message-id': 'e76c6bd4-55c9-4987-8304-da1588d8988b',
        'twitch-eventsub-message-timestamp': '2021-02-25T15:02:10.634234626Z',
        'twitch-eventsub-message-type': 'webhook_callback_verification',
        'twitch-eventsub-message-signature': 'sha256=80e0dfb9d07c1d9388c400920ae1368a3c7287efcc9a9855f3fe5ce0d8ce29f3',
      },
      answer: 'pogchamp-kappa-360noscope-vohiyo',
    },
  },
  typeform: {
    secret: 'of-typeform-0123456789',
    headers: { 'typeform-signature': 'sha256=rEHlw76Bud7t7nTXowLciW0QHIZ4DX8QoTg7TnkEOrY=' },
    body: '{"event_id":"LtWXD3crgy","event_type":"form_response"}',
  },
  vercel: {
    secret: 'of-vercel-0123456789',
    headers: { 'x-vercel-signature': '61b24eaac41b465e1906023480b33bccdf839560' },
    body: '{"id":"uev_1","type":"deployment.error","payload":{"deployment":{"id":"dpl_1"}}}',
  },
  zendesk: {
    secret: 'dGhpc19zZWNyZXRfaXNfZm9yX3Rlc3Rpbmdfb25seQ==',
    headers: {
      'x-zendesk-webhook-signature-timestamp': '2021-02-25T15:02:10Z',
      'x-zendesk-webhook-signature': 'KfS8IizJ3PNM9fSAo4xmTacJxmwHkQzAkePrOEDVcEE=',
    },
    body: '{"type":"zen:event-type:ticket.created","id":"cbe4028c","detail":{"id":"35436"}}',
  },
  zoom: {
    secret: 'of-zoom-0123456789',
    headers: {
      'x-zm-request-timestamp': '1614265330',
      'x-zm-signature': 'v0=8f48d9c3aa00b243d923f0f389553eebc0904bf61799c629a32b41ca977af606',
    },
    body: '{"event":"meeting.ended","event_ts":1614265330000,"payload":{"object":{"uuid":"4444AAAiAAAAAiAiAiiAii=="}}}',
    challenge: {
      body: '{"event":"endpoint.url_validation","payload":{"plainToken":"qgg8vlvZRS6UYooatFL8Aw"},"event_ts":1614265330000}',
      headers: {
        'x-zm-request-timestamp': '1614265330',
        'x-zm-signature': 'v0=c8b75749af752c6c0b864f1f8c35976fb0171f64023d2525a0fdc9fd77ac9dc3',
      },
      answer:
        '{"plainToken":"qgg8vlvZRS6UYooatFL8Aw","encryptedToken":"5e4f1756cb759919ca875ca69bfc75ee5fe97511d6c6c14a5b41764bec754a5f"}\n',
    },
  },
};
