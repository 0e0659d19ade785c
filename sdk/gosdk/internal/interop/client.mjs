// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

// One call by the official TypeScript client, which does the rounds by itself. The plan comes as JSON in the environment
// (PLAN), what came of it goes to standard output as JSON.
//
//	{"url": "http://...", "command": ["server", "args"], "method": "tool" | "prompt" | "resource", "name": "...", "args": {},
//	 "answer": {"action": "accept", "content": {}} | null, "everything": true}
//
// With everything the client can be asked whatever there is, and has an answer for each question.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const plan = JSON.parse(process.env.PLAN);
const wire = [];
const record = async (url, init) => {
  const response = await fetch(url, init);
  if (init?.body) {
    wire.push({ request: init.body, status: response.status, response: await response.clone().text() });
  }
  return response;
};

let transport;
if (plan.command) {
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  const [command, ...args] = plan.command;
  transport = new StdioClientTransport({ command, args, env: process.env });
} else {
  transport = new StreamableHTTPClientTransport(new URL(plan.url), { fetch: record });
}
const client = new Client({ name: 'typescript', version: '1.0.0' }, {
  versionNegotiation: { mode: { pin: '2026-07-28' } },
  capabilities: plan.everything ? { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} } : plan.answer ? { elicitation: { form: {} } } : {},
});
const asked = [];
if (plan.answer) {
  client.setRequestHandler('elicitation/create', async (request) => {
    asked.push(request.params.message);
    return plan.answer;
  });
}
if (plan.everything) {
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    asked.push(params.message);
    if (params.mode === 'url') {
      asked.push(params.url);
      return { action: 'accept' };
    }
    return { action: 'accept', content: params.requestedSchema.properties.decision ? { decision: 'approve' } : { colour: 'red' } };
  });
  client.setRequestHandler('sampling/createMessage', async ({ params }) => {
    asked.push(params.messages.at(-1).content.text);
    return { role: 'assistant', model: 'a model', stopReason: 'endTurn', content: { type: 'text', text: 'Paris' } };
  });
  client.setRequestHandler('roots/list', async () => {
    asked.push('roots');
    return { roots: [{ uri: 'file:///srv', name: 'srv' }] };
  });
}
const out = { asked, wire };
try {
  await client.connect(transport);
  switch (plan.method) {
    case 'tool':
      out.result = await client.callTool({ name: plan.name, arguments: plan.args ?? {} });
      break;
    case 'prompt':
      out.result = await client.getPrompt({ name: plan.name, arguments: plan.args ?? {} });
      break;
    case 'resource':
      out.result = await client.readResource({ uri: plan.name });
      break;
  }
} catch (e) {
  out.error = { code: e.code, message: String(e.message), data: e.data };
}
await client.close();
console.log(JSON.stringify(out));
