// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

// Opens every token of tokens.json and computes every digest of digests.json, and exits non-zero where one differs. It is
// written from docs/spec/requeststate-v1.md alone and needs nothing but Node: node vectors/verify.mjs

import { createDecipheriv, createHash, createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";

const read = (name) => JSON.parse(readFileSync(new URL(name, import.meta.url), "utf8"));
const utf8 = (text) => Buffer.from(text, "utf8");

class Refused extends Error {
  constructor(layer, reason) {
    super(`${layer}: ${reason}`);
    this.layer = layer;
    this.reason = reason;
  }
}

// ---- bytes

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

// Node's own decoder accepts many spellings, so this one goes character by character.
function base64url(text) {
  if (text.length % 4 === 1) return null;
  const out = [];
  let bits = 0;
  let held = 0;
  for (const c of text) {
    const v = alphabet.indexOf(c);
    if (v < 0) return null;
    bits = (bits << 6) | v;
    held += 6;
    if (held >= 8) {
      held -= 8;
      out.push(bits >> held);
      bits &= (1 << held) - 1;
    }
  }
  return bits === 0 ? Buffer.from(out) : null;
}

function uvarint(value) {
  const out = [];
  for (; value >= 0x80; value = Math.floor(value / 0x80)) out.push((value % 0x80) | 0x80);
  out.push(value);
  return Buffer.from(out);
}

const counted = (text) => Buffer.concat([uvarint(utf8(text).length), utf8(text)]);

class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }
  fail() {
    throw new Refused("payload", "malformed");
  }
  take(n) {
    if (n > this.bytes.length - this.at) this.fail();
    this.at += n;
    return this.bytes.subarray(this.at - n, this.at);
  }
  uvarint(limit) {
    let value = 0n;
    for (let shift = 0n; shift < 63n; shift += 7n) {
      const b = this.take(1)[0];
      value |= BigInt(b & 0x7f) << shift;
      if (b < 0x80) {
        if ((b === 0 && shift > 0n) || value > BigInt(limit)) this.fail();
        return Number(value);
      }
    }
    return this.fail();
  }
  left() {
    return this.bytes.length - this.at;
  }
  text() {
    return this.take(this.uvarint(this.left())).toString("utf8");
  }
  list(item) {
    const n = this.uvarint(this.left());
    return Array.from({ length: n }, () => item());
  }
}

// ---- keys

const derive = (secret, purpose, context, length) =>
  Buffer.from(
    hkdfSync("sha256", secret, Buffer.alloc(0), Buffer.concat([utf8(`reprise requestState v1 ${purpose}\0`), context]), length),
  );
const none = Buffer.alloc(0);
const hmac = (key, ...parts) => parts.reduce((h, p) => h.update(p), createHmac("sha256", key)).digest();

function parseKey(text) {
  const prefix = "reprise1_";
  const secret = text.startsWith(prefix) && base64url(text.slice(prefix.length));
  if (!secret || secret.length < 32) throw new Error("a key of the vectors cannot be read");
  return { secret, id: derive(secret, "key id", none, 4) };
}

// ---- canonical JSON

class Canonicalizer {
  constructor(bytes) {
    // TextDecoder refuses invalid UTF-8, encoded surrogates among it, and would swallow a byte order mark.
    this.text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    this.at = 0;
  }
  fail(why) {
    throw new Error(why);
  }
  space() {
    while (this.at < this.text.length && " \t\n\r".includes(this.text[this.at])) this.at++;
  }
  accept(c) {
    if (!this.text.startsWith(c, this.at)) return false;
    this.at += c.length;
    return true;
  }
  expect(c) {
    if (!this.accept(c)) this.fail("syntax");
  }
  whole() {
    const v = this.value(0);
    this.space();
    if (this.at < this.text.length) this.fail("something follows");
    return v;
  }
  value(depth) {
    this.space();
    if (this.accept("{")) return this.object(depth + 1);
    if (this.accept("[")) return this.array(depth + 1);
    if (this.accept('"')) return JSON.stringify(this.string());
    for (const literal of ["true", "false", "null"]) if (this.accept(literal)) return literal;
    return this.number();
  }
  array(depth) {
    if (depth > 128) this.fail("depth");
    const items = [];
    this.space();
    if (this.accept("]")) return "[]";
    do {
      items.push(this.value(depth));
      this.space();
    } while (this.accept(","));
    this.expect("]");
    return `[${items.join()}]`;
  }
  object(depth) {
    if (depth > 128) this.fail("depth");
    const members = new Map();
    this.space();
    if (this.accept("}")) return "{}";
    do {
      this.space();
      this.expect('"');
      const name = JSON.stringify(this.string());
      if (members.has(name)) this.fail("member twice");
      this.space();
      this.expect(":");
      members.set(name, this.value(depth));
      this.space();
    } while (this.accept(","));
    this.expect("}");
    const names = [...members.keys()].sort((a, b) => Buffer.compare(utf8(a), utf8(b)));
    return `{${names.map((n) => `${n}:${members.get(n)}`).join()}}`;
  }
  string() {
    let out = "";
    for (;;) {
      if (this.at >= this.text.length) this.fail("cut");
      const c = this.text[this.at++];
      if (c === '"') break;
      if (c < " ") this.fail("control character");
      if (c !== "\\") {
        out += c;
        continue;
      }
      const e = this.text[this.at++];
      const simple = { '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };
      if (e !== undefined && Object.hasOwn(simple, e)) out += simple[e];
      else if (e === "u") {
        const hex = this.text.slice(this.at, this.at + 4);
        if (!/^[0-9a-fA-F]{4}$/.test(hex)) this.fail("escape");
        out += String.fromCharCode(parseInt(hex, 16));
        this.at += 4;
      } else this.fail("escape");
    }
    if (/\p{Surrogate}/u.test(out)) this.fail("lone surrogate");
    return out;
  }
  number() {
    const m = /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
    m.lastIndex = this.at;
    const found = m.exec(this.text);
    if (!found) this.fail("syntax");
    this.at = m.lastIndex;
    const fraction = (found[2] ?? ".").slice(1);
    const digits = (found[1] + fraction).replace(/^0+/, "");
    if (digits === "") return "0";
    const significant = digits.replace(/0+$/, "");
    const written = (found[3] ?? "e0").slice(1).replace("+", "");
    const exponent = BigInt(written) - BigInt(fraction.length) + BigInt(digits.length - significant.length);
    if (exponent > 100000n || exponent < -100000n) this.fail("exponent");
    return (found[0].startsWith("-") ? "-" : "") + significant + (exponent === 0n ? "" : `e${exponent}`);
  }
}

const canonical = (bytes) => new Canonicalizer(bytes).whole();

function requestDigest({ method, target, arguments: args }) {
  const form = args === undefined ? "{}" : canonical(Buffer.isBuffer(args) ? args : utf8(args));
  if (!form.startsWith("{")) throw new Error("not an object");
  return createHash("sha256")
    .update(Buffer.concat([utf8("reprise requestState v1 request\0"), counted(method), counted(target), utf8(form)]))
    .digest();
}

// ---- tokens

const algorithms = { "AES-256-GCM": { code: 1, overhead: 28 }, "HMAC-SHA256": { code: 2, overhead: 32 } };

function encodePrincipal(p) {
  const part = (name) => counted(p[name] ?? "");
  switch (p.kind) {
    case "anonymous":
      return Buffer.from([1]);
    case "user":
      return Buffer.concat([Buffer.from([2]), part("issuer"), part("subject"), part("tenant"), part("client")]);
    case "local":
      return Buffer.concat([Buffer.from([3]), part("issuer"), part("subject")]);
  }
  throw new Error("unknown kind of principal");
}

function unseal(name, subKey, header, sealed) {
  if (name === "HMAC-SHA256") {
    const payload = sealed.subarray(0, -32);
    if (!timingSafeEqual(hmac(subKey, header, payload), sealed.subarray(-32))) throw new Refused("seal", "forged");
    return payload;
  }
  const d = createDecipheriv("aes-256-gcm", subKey, sealed.subarray(0, 12), { authTagLength: 16 });
  d.setAAD(header);
  d.setAuthTag(sealed.subarray(-16));
  try {
    return Buffer.concat([d.update(sealed.subarray(12, -16)), d.final()]);
  } catch {
    throw new Refused("seal", "forged");
  }
}

function parsePayload(payload) {
  const r = new Reader(payload);
  const tags = { principal: r.take(16), audience: r.take(16), request: r.take(32) };
  const hex = (n) => r.take(n).toString("hex");
  const state = { flow: hex(16) };
  const issued = r.take(6).readUIntBE(0, 6);
  const life = r.uvarint(2 ** 48 - 1);
  if (life === 0) r.fail();
  state.started = issued - r.uvarint(issued);
  state.issued = issued;
  state.expires = issued + life;
  state.round = r.uvarint(65535);
  state.drift = r.uvarint(65535);
  state.questions = r.list(() => ({ key: r.text(), pin: hex(32), schema: r.text() }));
  state.answers = r.list(() => ({ key: r.text(), pin: hex(32), response: r.text() }));
  state.values = r.list(() => ({ name: r.text(), json: r.text() }));
  state.inner = r.text();
  if (r.left() > 0) r.fail();
  return { tags, state };
}

function open(v, keys) {
  if (v.token.length > v.maxSize) throw new Refused("shape", "too large");
  const raw = base64url(v.token);
  if (raw === null || raw.length < 2) throw new Refused("shape", "malformed");
  const algorithm = algorithms[v.algorithm];
  if (raw[0] !== 1 || raw[1] !== algorithm.code) throw new Refused("shape", "unsupported");
  if (raw.length < 14 + 94 + algorithm.overhead) throw new Refused("shape", "malformed");
  const header = raw.subarray(0, 14);
  const key = v.keyring.map((name) => keys.get(name)).find((k) => k.id.equals(header.subarray(2, 6)));
  if (!key) throw new Refused("key", "unknown key");
  const payload = unseal(v.algorithm, derive(key.secret, v.algorithm, header.subarray(6), 32), header, raw.subarray(14));
  const { tags, state } = parsePayload(payload);
  const tag = (purpose, content) => hmac(derive(key.secret, purpose, none, 32), content).subarray(0, 16);
  if (!tags.principal.equals(tag("principal", encodePrincipal(v.principal)))) throw new Refused("principal", "wrong principal");
  if (!tags.audience.equals(tag("audience", utf8(v.audience)))) throw new Refused("audience", "wrong audience");
  if (state.issued > v.now + v.leeway) throw new Refused("times", "from the future");
  if (v.now >= state.expires) throw new Refused("times", "expired");
  if (v.now >= state.started + v.lifetime) throw new Refused("times", "outlived");
  if (!tags.request.equals(requestDigest(v.request))) throw new Refused("request", "wrong request");
  return state;
}

// ---- the run

let passed = 0;
let failed = 0;

function check(name, run) {
  let why;
  try {
    why = run();
  } catch (e) {
    why = e.message;
  }
  if (why === undefined) passed++;
  else {
    failed++;
    console.error(`${name}: ${why}`);
  }
}

// refusal returns the error of refused JSON; a mistake of this program stays an error.
function refusal(run) {
  try {
    run();
  } catch (e) {
    if (e instanceof ReferenceError || e instanceof RangeError) throw e;
    return e;
  }
}

const sorted = (v) =>
  Array.isArray(v) ? v.map(sorted) : v && typeof v === "object" ? Object.fromEntries(Object.keys(v).sort().map((k) => [k, sorted(v[k])])) : v;

const tokens = read("tokens.json");
const keys = new Map(tokens.keys.map((k) => [k.name, parseKey(k.text)]));
for (const k of tokens.keys) check(`key ${k.name}`, () => (keys.get(k.name).id.toString("hex") === k.id ? undefined : "another id"));

for (const v of tokens.vectors) {
  check(v.name, () => {
    let state;
    try {
      state = open(v, keys);
    } catch (e) {
      if (!(e instanceof Refused)) throw e;
      if (!v.refused) return `refused by ${e.message}`;
      return e.layer === v.refused.layer && e.reason === v.refused.reason ? undefined : `refused by ${e.message}, not by ${v.refused.layer}: ${v.refused.reason}`;
    }
    if (v.refused) return "opened";
    return JSON.stringify(sorted(state)) === JSON.stringify(sorted(v.state)) ? undefined : `holds ${JSON.stringify(state)}`;
  });
}

const digests = read("digests.json");
for (const v of digests.canonical) {
  check(`canonical form of ${v.input}`, () => {
    const got = canonical(utf8(v.input));
    if (got !== v.canonical) return `is ${got}`;
    return canonical(utf8(got)) === got ? undefined : "is not its own canonical form";
  });
}
for (const v of digests.equal) {
  for (const r of v.requests) check(`equal: ${v.name}`, () => (requestDigest(r).toString("hex") === v.digest ? undefined : "another digest"));
}
for (const v of digests.distinct) {
  for (const r of v.requests) check(`distinct: ${v.name}`, () => (requestDigest(r).toString("hex") === r.digest ? undefined : "another digest"));
  check(`distinct: ${v.name}`, () => (new Set(v.requests.map((r) => r.digest)).size === v.requests.length ? undefined : "two are equal"));
}
for (const v of digests.refused) {
  check(`refused: ${v.name}`, () =>
    refusal(() => requestDigest({ method: "tools/call", target: "deploy_release", arguments: Buffer.from(v.argumentsHex, "hex") }))
      ? undefined
      : "was digested",
  );
}

console.log(`${passed} passed, ${failed} failed`);
if (failed > 0 || passed < 300) process.exitCode = 1;
