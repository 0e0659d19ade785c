// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"slices"
)

// A Duty is what one sentence of the specification obliges somebody to, by MUST, SHOULD or a word that means the same. A
// sentence with two such words is two duties, and a list of things to do after one word is a duty for each of them.
type Duty struct {
	Page    string   // below docs/specification/2026-07-28, such as basic/patterns/mrtr
	Section string   // anchor of the heading under which it stands; empty: above the first one
	Level   string   // MUST, MUST NOT, SHOULD or SHOULD NOT
	Who     string   // client, server, both, or other: a gateway, a cache, an extension
	Gist    string   // what it demands, or with NOT what it forbids, in at most 120 characters
	Rules   []string // ids of the rules that show it; empty where Why says why none can
	Why     string   // why a recording cannot show it; empty where Rules can
}

// Duties returns every duty of the pages on the base protocol, its transports, multi round-trip requests, elicitation, tools,
// prompts, resources and caching, in the order in which they stand there. What is only allowed (MAY) is not among them.
func Duties() []Duty { return slices.Clone(duties) }

// Reasons that hold for more than one duty.
const (
	whyScreen   = "What a client shows to its user is not on the wire."
	whyInside   = "What a program makes of a message stays inside it."
	whyAbility  = "A recording shows what was sent, not what a program could have done."
	whyStored   = "What a server keeps, and who gets at it, is not on the wire."
	whyPage     = "It happens between the user's browser, the server and others, outside of the recorded conversation."
	whyPolicy   = "Who may do what is known to the server alone."
	whyWriting  = "It is about what authors write, not about messages."
	whyCache    = "What comes out of a cache is not sent, and a client may have no need to ask again."
	whyChange   = "A list may change at any time and differ from caller to caller; only the server knows why it did."
	whyGateway  = "A recording is made in one place, and does not show what a gateway made of a message."
	whyProcess  = "How a process is started, ended and watched is not part of its messages."
	whySocket   = "How sockets are opened and closed is below the messages that are recorded."
	whyCrossing = "What was under way when the other side gave up cannot be told from what was sent afterwards."
	whyVerb     = "A recording keeps messages, headers and statuses, not the HTTP method."
	whyCause    = "An error does not say what really went wrong."
)

func shown(section, level, who, gist string, rules ...string) Duty {
	return Duty{Section: section, Level: level, Who: who, Gist: gist, Rules: rules}
}

func notShown(section, level, who, gist, why string) Duty {
	return Duty{Section: section, Level: level, Who: who, Gist: gist, Why: why}
}

// on puts duties on their page.
func on(page string, duties ...Duty) []Duty {
	for i := range duties {
		duties[i].Page = page
	}
	return duties
}

var duties = slices.Concat(
	on("basic/index",
		notShown("", "MUST", "both", "Base protocol, versioning and message patterns are there in every implementation", whyAbility),

		shown("messages", "MUST", "both", "What is sent is JSON-RPC 2.0", "json-rpc"),

		shown("requests", "MUST", "client", "A request has an id, a string or an integer", "id-type"),
		shown("requests", "MUST NOT", "client", "The id is null, which plain JSON-RPC would allow", "id-type"),
		shown("requests", "MUST NOT", "client", "An id is used again while the request before it waits for its answer", "id-reused"),

		shown("result-responses", "MUST", "server", "A result carries the id of its request", "id-answered"),
		shown("result-responses", "MUST", "server", "A response that is no error has a result", "json-rpc"),
		shown("result-responses", "MUST", "server", "A result says its type in resultType", "result-type"),

		shown("resulttype", "MUST", "both", "Only types of the core, and of extensions that were advertised, are used", "result-type"),
		notShown("resulttype", "MUST", "client", "A type that the client does not know makes the result invalid", whyInside),
		notShown("resulttype", "MUST", "client", "An older server's result without a type counts as complete", whyInside),

		shown("error-responses", "MUST", "server", "An error carries the id of its request, unless that could not be read", "id-answered"),
		shown("error-responses", "MUST", "server", "An error has a code and a message", "error-shape"),
		shown("error-responses", "MUST", "server", "The code is an integer", "error-shape"),

		shown("error-codes", "MUST NOT", "both", "Somebody takes a new code from -32000 to -32019", "error-code"),
		shown("error-codes", "SHOULD NOT", "both", "A new implementation uses a code from -32000 to -32019", "error-code"),
		notShown("error-codes", "MUST NOT", "both", "A receiver reads a meaning into -32000 to -32019, but for -32002", whyInside),
		shown("error-codes", "MUST NOT", "both", "A code from -32020 to -32099 is sent that this revision does not define", "error-code"),
		shown("error-codes", "MUST", "both", "-32020, -32021 and -32022 are sent for what they mean, and for nothing else", "error-data", "header-refused", "version-accepted"),
		shown("error-codes", "MUST NOT", "both", "-32002 or -32042, of older revisions, is sent", "error-retired", "legacy-elicitation"),
		notShown("error-codes", "SHOULD", "client", "-32002 of an older server is understood as not found", whyInside),
		shown("error-codes", "SHOULD", "both", "Codes of one's own lie outside of -32768 to -32000", "error-code"),

		shown("notifications", "MUST NOT", "both", "A notification is answered", "id-answered"),
		shown("notifications", "MUST NOT", "both", "A notification has an id", "id-notification"),

		notShown("statelessness", "MUST NOT", "server", "What a request means depends on others that came over its connection", whyInside),
		notShown("statelessness", "SHOULD", "server", "One connection may carry several conversations, and the server copes", whyAbility),
		notShown("statelessness", "SHOULD NOT", "server", "Related requests have to come over one connection, or to one process", "Which connection or process took a request is not recorded."),
		notShown("statelessness", "SHOULD NOT", "client", "The stdio process lives as long as one conversation does", whyProcess),
		notShown("statelessness", "MUST", "both", "What outlasts a request is named by a handle that the client sends each time", "A handle looks like any other argument."),

		notShown("auth", "SHOULD", "both", "Over HTTP, the authorization pages are followed", "Authorization has pages of its own, and most of it happens before the first message."),
		notShown("auth", "SHOULD NOT", "both", "Over stdio they are; credentials come from the environment there", "The environment of a process is not part of its messages."),

		notShown("schema-dialect", "MUST", "both", "JSON Schema 2020-12 is understood", whyAbility),
		notShown("schema-dialect", "SHOULD", "both", "Documentation names the other dialects that are understood", whyWriting),
		notShown("schema-dialect", "SHOULD", "both", "Schemas are written in 2020-12", "Another dialect that a schema declares is as legal."),

		notShown("implementation-requirements", "MUST", "both", "A schema that names no dialect is read as 2020-12", whyInside),
		notShown("implementation-requirements", "MUST", "both", "A schema is checked by the rules of its own dialect", whyInside),
		notShown("implementation-requirements", "MUST", "both", "A dialect that is not understood gives an error that says so", "Which dialects a program understands is not on the wire."),
		notShown("implementation-requirements", "SHOULD", "both", "Documentation says which dialects are understood", whyWriting),

		shown("schema-validation", "MUST", "both", "A schema is a valid one in its dialect", "tool-schema"),

		notShown("ref-resolution", "MUST NOT", "both", "A $ref to the network is followed without being asked to", "What a program fetches from elsewhere is not in the conversation."),
		notShown("ref-resolution", "MUST", "both", "Following such references is off unless somebody turns it on", whyInside),
		notShown("ref-resolution", "SHOULD", "both", "Whoever turns it on gets limits: known hosts, no private addresses, timeouts, sizes, a log", whyInside),
		notShown("ref-resolution", "SHOULD", "both", "A schema with a reference that could not be followed is refused, not waved through", whyInside),

		notShown("composition-keyword-resource-use", "SHOULD", "both", "Checking against a schema is bounded in depth, size or time", whyInside),

		notShown("meta", "MUST NOT", "both", "A program supposes something about the values of reserved keys", whyInside),
		shown("meta", "MUST", "both", "A prefix of a key is labels with dots between them and a slash at the end", "meta-key"),
		shown("meta", "MUST", "both", "A label starts with a letter, ends with a letter or digit, and has hyphens only inside", "meta-key"),
		notShown("meta", "SHOULD", "both", "A prefix is a domain name written backwards", "Which end of a name is the top-level domain cannot always be told."),
		shown("meta", "MUST", "both", "A name that is not empty starts and ends with a letter or digit", "meta-key"),
		shown("meta", "MUST", "client", "Each request has its protocol version and the client's capabilities", "meta-missing"),
		shown("meta", "MUST", "server", "A request that lacks one of the two is refused with -32602", "meta-accepted"),
		shown("meta", "MUST", "server", "Over HTTP, that refusal has status 400", "http-status"),
		shown("meta", "SHOULD", "client", "Each request says which client sent it", "meta-client"),
		shown("meta", "MUST NOT", "server", "Something is asked of a client that it did not declare", "ask-undeclared"),
		shown("meta", "MUST", "server", "Where the request needs it nevertheless, it gets -32021 with the list of what is missing", "error-data"),
		shown("meta", "MUST", "server", "Over HTTP, -32021 has status 400", "http-status"),
		shown("meta", "SHOULD", "server", "Each result says which server sent it", "meta-server"),
		notShown("meta", "SHOULD NOT", "both", "A program behaves in another way because of the peer's name or version", whyInside),
		notShown("meta", "SHOULD NOT", "both", "The peer's name or version decides what it may do", whyInside),
		shown("meta", "MUST", "server", "A notification for a subscription says for which one", "meta-subscription"),
		shown("meta", "MUST", "both", "Trace context and baggage have the formats of the W3C", "meta-trace"),

		notShown("icons", "MUST", "client", "A client that draws icons can draw PNG and JPEG", whyAbility),
		notShown("icons", "SHOULD", "client", "It can draw SVG and WebP too", whyAbility),
		notShown("icons", "MUST", "client", "Icons are handled as untrusted: their source, size, type and content", whyInside),
		notShown("icons", "MUST", "client", "Icons from schemes other than https and data, and from other origins, are refused", "What a client fetches or draws is not on the wire."),
	),

	on("basic/versioning",
		shown("protocol-version-negotiation", "MUST", "server", "A version that the server does not have gets -32022 with those that it has", "version-accepted", "error-data"),
		shown("protocol-version-negotiation", "SHOULD", "client", "After that, the client goes on in one of those versions, or tells its user", "version-ignored"),
		shown("protocol-version-negotiation", "MUST", "server", "server/discover is there", "version-discover"),

		shown("extension-negotiation", "MUST", "both", "An extension is named like a key of _meta, always with a prefix", "meta-key"),
		notShown("extension-negotiation", "MUST", "both", "Where only one side has an extension, it does without, or refuses with a fitting error", "Whether a request needs an extension is defined by that extension."),
		notShown("extension-negotiation", "SHOULD", "other", "An extension says what happens where the other side lacks it", whyWriting),

		notShown("backward-compatibility-with-initialization-based-versions", "SHOULD", "client", "Which era a server is of is remembered as long as its process or origin lasts", "A client that asks again may be another process with nothing to remember."),
		shown("backward-compatibility-with-initialization-based-versions", "SHOULD", "server", "A server without older revisions names its versions when it refuses initialize", "legacy-initialize"),

		notShown("compatibility-matrix", "SHOULD", "client", "On stdio, server/discover is sent first, so that an older server fails for sure", "A recording need not begin where the process did."),
	),

	on("basic/patterns/index",
		shown("", "MUST NOT", "server", "A server sends a request", "server-requests"),
	),

	on("basic/patterns/mrtr",
		shown("", "MUST", "server", "What a server wants of the client it asks in a result, not in a request of its own", "server-requests"),
		shown("", "MUST", "client", "Each request has the required members of _meta; the examples only leave them out", "meta-missing"),

		shown("inputrequiredresult", "MUST NOT", "client", "A client reads, changes or relies on what is in a requestState", "retry-state"),

		shown("supported-requests", "MUST NOT", "server", "Another method than tools/call, prompts/get and resources/read is answered with a question", "ask-method"),

		shown("server-requirements-basic-workflow", "MUST", "server", "No two questions of one result have the same key", "json-repeated-name"),
		shown("server-requirements-basic-workflow", "MUST", "server", "A question is an elicitation, a sampling or a roots request", "ask-kind"),
		notShown("server-requirements-basic-workflow", "MUST", "server", "A requestState that comes back counts as written by an attacker", whyInside),
		notShown("server-requirements-basic-workflow", "MUST", "server", "A state that decides anything is protected against changes", "A state is opaque; whether it is sealed, or lies in a store, cannot be seen from outside."),
		shown("server-requirements-basic-workflow", "MUST", "server", "A state that does not verify is refused", "violation-accepted"),
		shown("server-requirements-basic-workflow", "SHOULD", "server", "A state is bound to a principal, and refused from another one", "violation-accepted"),
		shown("server-requirements-basic-workflow", "SHOULD", "server", "A state expires soon, and is refused afterwards", "violation-accepted"),
		shown("server-requirements-basic-workflow", "SHOULD", "server", "A state is bound to its request, and refused on another one", "violation-accepted"),
		shown("server-requirements-basic-workflow", "MUST", "server", "A server whose states count once sees to that itself", "violation-accepted"),
		shown("server-requirements-basic-workflow", "MUST", "server", "A question has inputRequests, requestState, or both", "ask-empty"),
		shown("server-requirements-basic-workflow", "MUST NOT", "server", "A question is asked that the client did not declare", "ask-undeclared"),
		shown("server-requirements-basic-workflow", "MUST NOT", "server", "For example an elicitation, of a client that declared none", "ask-undeclared"),
		notShown("server-requirements-basic-workflow", "MUST NOT", "server", "A server counts on being answered, or on a retry at all", whyInside),

		shown("client-requirements-basic-workflow", "MUST", "client", "All that was asked is answered before the retry", "answer-missing", "answer-object", "answer-shape"),
		shown("client-requirements-basic-workflow", "MUST", "client", "The retry gives back the state exactly as it came", "retry-state"),
		shown("client-requirements-basic-workflow", "MUST NOT", "client", "The client looks into the state, changes it or builds on it", "retry-state"),
		shown("client-requirements-basic-workflow", "MUST NOT", "client", "A retry has a state although none came", "retry-state"),
		shown("client-requirements-basic-workflow", "MUST", "client", "The retry has an id of its own", "retry-id"),
		shown("client-requirements-basic-workflow", "MUST NOT", "client", "Questions and state of one request turn up on another", "retry-elsewhere", "retry-arguments"),

		shown("error-handling", "SHOULD", "server", "Answers are checked for their shape before they are used", "answer-accepted"),
		shown("error-handling", "SHOULD", "server", "What is malformed is answered with a JSON-RPC error that fits", "answer-accepted"),
		notShown("error-handling", "SHOULD", "server", "What nobody asked for is ignored among the answers", whyCause),
		notShown("error-handling", "SHOULD", "server", "An answer that is missing and needed is asked for again, not punished with an error", whyCause),

		shown("security-considerations", "MUST", "server", "A state is validated on its return, as the server's requirements say", "violation-accepted"),
	),

	on("client/elicitation",
		shown("user-interaction-model", "MUST NOT", "server", "A form asks for a password, a key, a token or payment data", "schema-secret"),
		shown("user-interaction-model", "MUST", "server", "Such things are asked for in URL mode", "schema-secret"),
		notShown("user-interaction-model", "MUST", "client", "The user sees which server asks", whyScreen),
		notShown("user-interaction-model", "MUST", "client", "The user can decline or cancel, and finds out how", whyScreen),
		notShown("user-interaction-model", "MUST", "client", "The user can look over a form and correct it before it is sent", whyScreen),
		notShown("user-interaction-model", "MUST", "client", "The user sees the host of a link, and agrees before it is opened", whyScreen),

		shown("capabilities", "MUST", "client", "A client that answers elicitations declares them on each request", "answer-undeclared"),
		shown("capabilities", "MUST", "client", "A client that declares elicitation has form mode, URL mode or both", "meta-capabilities"),
		shown("capabilities", "MUST NOT", "server", "A mode is used that the client did not declare", "ask-undeclared"),

		shown("elicitation-requests", "MUST", "server", "An elicitation has a message, and a mode unless it is a form", "elicit-params"),
		shown("elicitation-requests", "MUST", "client", "An elicitation without a mode is answered as a form", "answer-schema"),

		shown("form-mode-elicitation-requests", "MUST", "server", "A form says form or no mode at all, and has a requestedSchema", "elicit-params", "schema-flat"),

		notShown("requested-schema", "SHOULD", "client", "A form begins with its defaults filled in", whyScreen),

		shown("url-mode-elicitation-requests", "MUST", "server", "A question in URL mode says so, and has a message and a url", "elicit-params"),
		shown("url-mode-elicitation-requests", "MUST", "server", "The url is a valid one", "elicit-params"),

		notShown("example-request-sensitive-data", "SHOULD", "client", "After a page was opened, the user can retry or cancel by hand", whyScreen),

		notShown("statefulness", "MUST", "server", "What is kept about an elicitation belongs to one user, securely", whyStored),
		notShown("statefulness", "MUST", "server", "Nobody else gets at what is kept", whyStored),
		notShown("statefulness", "MUST", "server", "A remote server learns who the user is from MCP authorization where it can", whyInside),

		notShown("url-mode-elicitation-for-oauth-flows", "MUST NOT", "server", "URL mode stands in for authorization to the server itself", "What an opened page is used for is not on the wire."),

		notShown("understanding-the-distinction", "MUST NOT", "server", "Credentials of third parties pass through the client", "A credential looks like any other text."),
		notShown("understanding-the-distinction", "MUST NOT", "server", "The client's token is passed on to a third party", whyPage),
		notShown("understanding-the-distinction", "MUST", "server", "The user gives the server its authorization directly", whyPage),
		notShown("understanding-the-distinction", "MUST NOT", "server", "What was obtained on a page in URL mode is handed to the client", "A credential looks like any other text."),

		notShown("error-handling", "SHOULD NOT", "server", "A server counts on a question being answered with yes", whyInside),
		shown("error-handling", "MUST", "server", "A server copes with a no, with a dismissal, and with a client that cannot ask", "ask-again"),

		notShown("security-considerations", "MUST", "server", "A question belongs to one client and one user", whyStored),
		notShown("security-considerations", "MUST", "client", "It is plain to the user which server wants to know", whyScreen),
		notShown("security-considerations", "SHOULD", "client", "The user approves what is sent", whyScreen),
		notShown("security-considerations", "SHOULD", "client", "The user can say no at any time", whyScreen),
		notShown("security-considerations", "SHOULD", "client", "The user understands what is asked, and why", whyScreen),

		shown("safe-url-handling", "MUST NOT", "server", "A link tells something about the user, or holds a credential", "url-safe"),
		shown("safe-url-handling", "MUST NOT", "server", "A link lets in whoever has it", "url-safe"),
		shown("safe-url-handling", "SHOULD NOT", "server", "A form has links to click on in its texts", "schema-link"),
		shown("safe-url-handling", "SHOULD", "server", "A link is https, except in development", "url-safe"),
		notShown("safe-url-handling", "MUST", "client", "Links are handled so that nobody clicks on a bad one unawares", whyScreen),
		notShown("safe-url-handling", "MUST NOT", "client", "The client fetches a page, or data about it, in advance", whyPage),
		notShown("safe-url-handling", "MUST NOT", "client", "A page is opened before the user agreed", whyScreen),
		notShown("safe-url-handling", "MUST", "client", "The user sees the whole URL before agreeing", whyScreen),
		notShown("safe-url-handling", "MUST", "client", "A page is opened where neither the client nor a model can look into it", whyPage),
		notShown("safe-url-handling", "SHOULD", "client", "The domain stands out in the URL", whyScreen),
		notShown("safe-url-handling", "SHOULD", "client", "Punycode and other suspicious URLs come with a warning", whyScreen),
		notShown("safe-url-handling", "SHOULD NOT", "client", "Something else in a question than its url can be clicked on", whyScreen),

		notShown("identifying-the-user", "MUST NOT", "server", "A server believes what the client says about who its user is", whyInside),
		notShown("identifying-the-user", "SHOULD", "server", "It follows the guide to security instead", whyInside),

		shown("form-mode-security", "MUST NOT", "server", "A form asks for secrets", "schema-secret"),
		shown("form-mode-security", "SHOULD", "client", "An answer fits the schema before it is sent", "answer-schema"),
		shown("form-mode-security", "SHOULD", "server", "A server does not act on an answer that does not fit", "answer-accepted"),

		notShown("phishing", "MUST", "server", "Who opens the page is identified before anything that they enter counts", whyPage),
		notShown("phishing", "MUST", "server", "The one who was asked and the one who finishes on the page are the same user", whyPage),
		notShown("phishing", "MUST", "server", "Changing the URL does not make the page mistake one user for another", whyPage),
	),

	on("basic/transports/index",
		shown("messages", "MUST", "both", "A message is encoded in UTF-8", "json-rpc"),
		notShown("messages", "MUST", "other", "A transport carries what clients send to the server, and what servers send to the client", "What did not arrive is not in the recording."),

		notShown("custom-transports", "MUST", "other", "A transport of one's own keeps the messages, the patterns and the metadata of each request", "Only messages are recorded, whatever carried them."),
		notShown("custom-transports", "SHOULD", "other", "Its documentation says how it connects, frames and cancels", whyWriting),
		notShown("custom-transports", "SHOULD", "other", "Over a stream of bytes it frames as stdio does", "Only messages are recorded, not their frames."),
	),

	on("basic/transports/streamable-http",
		notShown("", "MUST", "server", "There is one path that takes POST requests", "The path that a message went to is not recorded."),

		shown("security-%26-endpoint", "MUST", "server", "The Origin of each connection is checked, against DNS rebinding", "violation-accepted"),
		shown("security-%26-endpoint", "MUST", "server", "A wrong Origin gets status 403", "violation-accepted"),
		notShown("security-%26-endpoint", "SHOULD", "server", "A local server listens on the loopback address only", whySocket),
		notShown("security-%26-endpoint", "SHOULD", "server", "Connections are authenticated", "A connection may be authenticated below HTTP."),

		shown("sending-messages", "MUST", "client", "Each message is an HTTP request of its own", "json-rpc"),
		notShown("sending-messages", "MUST", "client", "The HTTP method is POST", whyVerb),
		shown("sending-messages", "MUST", "client", "Accept lists JSON and event streams", "header-accept"),
		shown("sending-messages", "MUST", "client", "The headers that mirror the body are there", "header-version", "header-method", "header-name"),
		shown("sending-messages", "MUST", "client", "The body is one request or one notification", "json-rpc"),
		shown("sending-messages", "MUST NOT", "client", "A client sends a response", "client-responds"),
		shown("sending-messages", "MUST", "server", "A notification that is taken gets 202 and an empty body", "http-notification"),
		shown("sending-messages", "MUST", "server", "One that is not gets a status that is an error", "http-notification"),
		shown("sending-messages", "MUST", "server", "A request is answered with JSON or with an event stream", "http-content-type"),
		notShown("sending-messages", "MUST", "client", "A client can read both", whyAbility),

		shown("receiving-messages", "MUST", "server", "Notifications on a request's stream are about that request", "meta-progress"),
		shown("receiving-messages", "MUST NOT", "server", "A request comes down a stream", "server-requests"),
		notShown("receiving-messages", "SHOULD", "server", "The stream ends with the response", whySocket),
		notShown("receiving-messages", "SHOULD", "server", "An event stream has the header X-Accel-Buffering: no", "A gateway that obeys it, such as nginx, takes it out, and a recording need not be made before that."),

		notShown("cancellation", "MUST", "server", "A client that hangs up has cancelled its request", whySocket),
		notShown("cancellation", "SHOULD", "server", "Work on it ends soon", whyInside),
		notShown("cancellation", "MUST NOT", "server", "More is sent for it", whySocket),

		shown("protocol-version-header", "MUST", "client", "MCP-Protocol-Version is on each POST", "header-version"),
		shown("protocol-version-header", "MUST", "client", "It says the version that _meta says", "header-version"),
		shown("protocol-version-header", "MUST", "server", "Where the two differ, the request gets 400 and -32020", "header-mismatch", "http-status"),
		shown("protocol-version-header", "MUST", "server", "A version that the server does not have gets 400 and -32022 with those that it has", "version-accepted", "error-data", "http-status"),
		shown("protocol-version-header", "MUST", "server", "A method that the server does not have gets 404 and -32601", "http-status"),
		shown("protocol-version-header", "MUST", "server", "Without the header a request is refused, except for the oldest revisions", "header-mismatch"),

		shown("standard-request-headers", "MUST", "client", "Mcp-Method is there, and Mcp-Name on the three methods that name something", "header-method", "header-name"),
		shown("standard-request-headers", "MUST", "client", "A name that no plain header can hold is sent in base64", "header-name", "header-encoding"),

		shown("custom-headers-from-tool-parameters", "MUST", "client", "Clients know x-mcp-header, which servers need not use", "header-param"),
		shown("custom-headers-from-tool-parameters", "MUST", "client", "A parameter that a tool marks so is repeated in its header", "header-param"),

		shown("schema-extension", "MUST NOT", "server", "An x-mcp-header is empty", "tool-header"),
		shown("schema-extension", "MUST", "server", "It is a token, as the names of HTTP fields are", "tool-header"),
		shown("schema-extension", "MUST NOT", "server", "It has control characters in it", "tool-header"),
		shown("schema-extension", "MUST", "server", "A tool has no two of them that differ in case only", "tool-header"),
		shown("schema-extension", "MUST", "server", "Only integers, strings and booleans are marked", "tool-header"),
		shown("schema-extension", "MUST", "both", "A marked integer is one that a double holds exactly", "header-param"),
		shown("schema-extension", "MUST", "server", "A marked property is reached from the root through properties alone", "tool-header"),
		shown("schema-extension", "MUST NOT", "server", "The way to it leads through arrays, choices, conditions or references", "tool-header"),
		shown("schema-extension", "MUST", "client", "Over HTTP, a tool with a bad mark is refused", "tool-header-called"),
		shown("schema-extension", "MUST", "client", "That is, it is left out of the list of tools", "tool-header-called"),
		notShown("schema-extension", "SHOULD", "client", "A log says which tool was left out, and why", "A client's log is not part of the conversation."),

		shown("value-encoding", "MUST", "client", "Values are encoded before they become headers", "header-encoding", "header-param"),
		shown("value-encoding", "MUST", "client", "What is not plain visible ASCII is sent in base64 between the markers", "header-encoding", "header-param"),
		shown("value-encoding", "MUST", "client", "The markers are spelt exactly so, in lower case", "header-encoding", "header-param"),
		shown("value-encoding", "MUST", "other", "Whoever looks at such a value decodes it", "header-refused"),
		shown("value-encoding", "MUST", "server", "A server decodes before it compares with the body", "header-refused"),
		shown("value-encoding", "MUST", "client", "Plain text that looks like the markers is sent in base64 as well", "header-encoding", "header-param"),

		shown("client-behavior", "MUST", "client", "Standard headers take their values from the body", "header-method", "header-name"),
		shown("client-behavior", "MUST", "client", "Mcp-Method is added, and Mcp-Name where there is a name", "header-method", "header-name"),
		shown("client-behavior", "MUST", "client", "Marked parameters are read from their exact places; one that is not there has no header", "header-param"),
		shown("client-behavior", "MUST", "client", "Values are encoded as that section says", "header-encoding", "header-param"),
		shown("client-behavior", "MUST", "client", "Each of them becomes an Mcp-Param header", "header-param"),
		notShown("client-behavior", "SHOULD", "client", "After a mismatch, the client lists the tools anew and retries with the right headers", "A client that gave up looks the same as one that did not know better."),

		notShown("server-behavior-for-custom-headers", "MUST", "other", "A gateway passes on Mcp-Param headers that it does not know", whyGateway),
		shown("server-behavior-for-custom-headers", "MUST", "server", "A known Mcp-Param header with characters that may not be in it is refused", "header-mismatch"),
		shown("server-behavior-for-custom-headers", "MUST", "server", "Whoever processes the body compares decoded headers with it", "header-mismatch"),
		shown("server-behavior-for-custom-headers", "MUST", "server", "Where they differ, the request gets 400 and -32020", "header-mismatch", "http-status"),
		shown("server-behavior-for-custom-headers", "MUST", "client", "A parameter with a value has its header", "header-param"),
		shown("server-behavior-for-custom-headers", "MUST", "server", "The header of such a parameter is compared with its value", "header-mismatch"),
		shown("server-behavior-for-custom-headers", "MUST", "client", "A parameter that is null has no header", "header-param"),
		shown("server-behavior-for-custom-headers", "MUST NOT", "server", "A header is demanded for a parameter that is null", "header-refused"),
		shown("server-behavior-for-custom-headers", "MUST", "client", "A parameter that is not among the arguments has no header", "header-param"),
		shown("server-behavior-for-custom-headers", "MUST NOT", "server", "A header is demanded for a parameter that is not there", "header-refused"),
		shown("server-behavior-for-custom-headers", "MUST", "server", "A value in the body without its header is refused", "header-mismatch"),

		shown("case-sensitivity", "MUST", "both", "Names of headers are compared without regard to case", "header-refused"),

		shown("server-validation", "MUST", "server", "A request whose headers and body disagree is refused by whoever processes the body", "header-mismatch"),
		shown("server-validation", "SHOULD", "server", "Integers are compared as numbers: 42.0 is 42", "header-refused"),
		shown("server-validation", "MUST", "server", "The status of such a refusal is 400", "http-status"),
		shown("server-validation", "MUST", "server", "Its error is -32020", "header-mismatch"),
		shown("server-validation", "MUST", "server", "Headers in base64 are decoded before they are compared", "header-refused"),
		notShown("server-validation", "MUST", "other", "A gateway that refuses uses a fitting HTTP status", whyGateway),
		notShown("server-validation", "SHOULD", "other", "A gateway that trusts headers makes sure that the version demands their validation", whyGateway),
		notShown("server-validation", "SHOULD", "other", "If not, it refuses the request", whyGateway),

		shown("backward-compatibility", "SHOULD", "client", "A client looks into the body of a 400 before it takes the server for an old one", "legacy-fallback"),

		notShown("earlier-streamable-http-revisions", "SHOULD", "server", "GET and DELETE get status 405", whyVerb),
		shown("earlier-streamable-http-revisions", "SHOULD", "server", "Mcp-Session-Id is ignored, and none is handed out", "legacy-session"),
		notShown("earlier-streamable-http-revisions", "SHOULD", "server", "Last-Event-ID is ignored", "A stream that was resumed looks like any other stream."),

		notShown("http%2Bsse-transport-2024-11-05", "SHOULD NOT", "both", "Something new is built on the transport of 2024-11-05", "How old an implementation is cannot be seen."),
		notShown("http%2Bsse-transport-2024-11-05", "SHOULD", "both", "What is built on it moves to Streamable HTTP", "How old an implementation is cannot be seen."),
	),

	on("basic/transports/stdio",
		shown("", "MUST NOT", "both", "A message runs over more than one line", "json-rpc"),
		notShown("", "SHOULD NOT", "client", "Output on stderr is taken for an error", whyInside),
		shown("", "MUST NOT", "server", "Something that is no message gets onto the server's stdout", "json-rpc"),
		shown("", "MUST NOT", "client", "Something that is no message gets onto the server's stdin", "json-rpc"),
		notShown("", "SHOULD", "other", "Transports over streams of bytes frame in the same way", "Only messages are recorded, not their frames."),

		shown("sending-messages", "MUST NOT", "client", "A client writes a response", "client-responds"),

		notShown("receiving-messages", "MUST", "client", "Notifications of a subscription are told apart by their subscriptionId", whyInside),
		shown("receiving-messages", "MUST NOT", "server", "A server writes a request", "server-requests"),

		notShown("cancellation", "MUST", "client", "A client that gives up on a request says so with notifications/cancelled", "A client that gave up in silence looks like one that waits."),
		notShown("cancellation", "SHOULD", "server", "The server soon stops work on what was cancelled", whyInside),
		notShown("cancellation", "MUST NOT", "server", "More is sent for what was cancelled", whyCrossing),

		notShown("shutdown", "SHOULD", "client", "The client ends a server by closing its input, waiting, and using force at last", whyProcess),
		notShown("shutdown", "SHOULD", "server", "A server whose input ends soon ends too", whyProcess),

		notShown("unexpected-termination", "SHOULD", "client", "A server that died is started again", whyProcess),

		notShown("backward-compatibility", "SHOULD", "client", "A client of both eras sends server/discover before anything else", "A client may remember what its server was, and a recording need not begin where the process did, nor say that it is of stdio."),
		notShown("backward-compatibility", "MUST NOT", "client", "Only one particular error makes the client fall back", "One fallback does not show which other errors would have led to it."),
		notShown("backward-compatibility", "SHOULD", "client", "A client without older revisions sends server/discover first as well", "A recording need not begin where the process did."),
	),

	on("server/tools",
		shown("", "MUST", "client", "Each request has the required members of _meta; the examples only leave them out", "meta-missing"),

		notShown("user-interaction-model", "SHOULD", "client", "There is a human who can refuse a call", whyScreen),
		notShown("user-interaction-model", "SHOULD", "client", "The user sees which tools the model has", whyScreen),
		notShown("user-interaction-model", "SHOULD", "client", "The user sees when a tool is called", whyScreen),
		notShown("user-interaction-model", "SHOULD", "client", "The user is asked to confirm what is done", whyScreen),

		shown("capabilities", "MUST", "server", "A server that has tools declares it", "tool-capability"),
		shown("capabilities", "MUST", "server", "A server that declares tools answers tools/list", "tool-capability"),
		notShown("capabilities", "MUST NOT", "server", "The list depends on the connection, or on requests before it", whyChange),
		shown("capabilities", "SHOULD", "server", "The same tools come in the same order", "tool-order"),

		shown("input-required-tool-results", "MUST", "client", "A retry has another id than the call before it", "retry-id"),

		notShown("list-changed-notification", "SHOULD", "server", "Subscribers are told when the tools change, if that was declared", whyChange),

		shown("tool", "MUST", "server", "inputSchema is an object that is a JSON Schema, never null", "tool-schema"),
		notShown("tool", "MUST", "client", "Annotations of a server that is not trusted are not trusted", whyInside),

		shown("tool-names", "SHOULD", "server", "A name has 1 to 128 characters", "tool-name"),
		notShown("tool-names", "SHOULD", "both", "Names that differ in case are different names", whyInside),
		shown("tool-names", "SHOULD", "server", "A name is of ASCII letters, digits, underscore, hyphen and dot alone", "tool-name"),
		shown("tool-names", "SHOULD NOT", "server", "A name has spaces, commas or the like in it", "tool-name"),
		shown("tool-names", "SHOULD", "server", "A server has no two tools of one name", "tool-name"),
		notShown("tool-names", "SHOULD", "client", "Tools of several servers are told apart, by a prefix for example", whyInside),
		notShown("tool-names", "SHOULD NOT", "client", "The name that a server gives itself is used for that", whyInside),

		shown("x-mcp-header", "MUST NOT", "server", "An x-mcp-header is empty", "tool-header"),
		shown("x-mcp-header", "MUST", "server", "It is a token, as the names of HTTP fields are", "tool-header"),
		shown("x-mcp-header", "MUST NOT", "server", "It has control characters in it", "tool-header"),
		shown("x-mcp-header", "MUST", "server", "A tool has no two of them that differ in case only", "tool-header"),
		shown("x-mcp-header", "MUST", "server", "Only integers, strings and booleans are marked", "tool-header"),
		shown("x-mcp-header", "MUST", "both", "A marked integer is one that a double holds exactly", "header-param"),
		shown("x-mcp-header", "MUST", "server", "A marked property is reached from the root through properties alone", "tool-header"),
		shown("x-mcp-header", "MUST", "client", "Over HTTP, a tool with a bad mark is refused", "tool-header-called"),
		shown("x-mcp-header", "MUST", "client", "That is, it is left out of the list of tools", "tool-header-called"),
		notShown("x-mcp-header", "SHOULD", "client", "A log says which tool was left out, and why", "A client's log is not part of the conversation."),
		shown("x-mcp-header", "SHOULD NOT", "server", "A secret or personal parameter is marked, so that every gateway sees it", "tool-header-secret"),

		shown("embedded-resources", "SHOULD", "server", "A server whose tools return resources declares resources", "resource-capability"),

		shown("structured-content", "SHOULD", "server", "Structured content is there as text, too", "tool-text"),

		shown("output-schema", "MUST", "server", "A tool with an outputSchema returns structured content that fits it", "tool-output"),
		notShown("output-schema", "SHOULD", "client", "The client checks that it does", whyInside),

		notShown("error-handling", "SHOULD", "client", "The model gets to see the errors of its tools", "What a client tells its model is not on the wire."),

		shown("security-considerations", "MUST", "server", "All inputs are validated", "violation-accepted"),
		notShown("security-considerations", "MUST", "server", "Who may call what is enforced", whyPolicy),
		notShown("security-considerations", "MUST", "server", "Calls are limited in rate", "A limit shows only to somebody who reaches it."),
		notShown("security-considerations", "MUST", "server", "Outputs are cleaned of what is harmful", whyInside),
		notShown("security-considerations", "SHOULD", "client", "The user confirms what is delicate", whyScreen),
		notShown("security-considerations", "SHOULD", "client", "The user sees the inputs before they leave", whyScreen),
		notShown("security-considerations", "SHOULD", "client", "Results are validated before the model gets them", whyInside),
		notShown("security-considerations", "SHOULD", "client", "References in schemas are handled as the basic page says", whyInside),
		notShown("security-considerations", "SHOULD", "client", "A call that takes too long is given up", whyInside),
		notShown("security-considerations", "SHOULD", "client", "An audit log tells which tools were used", "A client's log is not part of the conversation."),
	),

	on("server/prompts",
		shown("", "MUST", "client", "Each request has the required members of _meta; the examples only leave them out", "meta-missing"),

		shown("capabilities", "MUST", "server", "A server that has prompts declares it in server/discover", "prompt-capability"),
		shown("capabilities", "MUST", "server", "A server that declares prompts answers prompts/list", "prompt-capability"),
		notShown("capabilities", "MUST NOT", "server", "The list depends on the connection, or on requests before it", whyChange),

		notShown("list-changed-notification", "SHOULD", "server", "Subscribers are told when the prompts change, if that was declared", whyChange),

		shown("image-content", "MUST", "server", "An image is in base64, with a valid media type", "content-data"),

		shown("audio-content", "MUST", "server", "A sound is in base64, with a valid media type", "content-data"),

		shown("embedded-resources", "MUST", "server", "An embedded resource has a URI, its media type, and text or base64", "content-data"),

		shown("error-handling", "SHOULD", "server", "A prompt that does not exist gets -32602", "prompt-error", "error-retired"),
		shown("error-handling", "SHOULD", "server", "An argument that is required and missing gets -32602", "prompt-error"),
		notShown("error-handling", "SHOULD", "server", "A failure of the server itself gets -32603", whyCause),

		shown("implementation-considerations", "SHOULD", "server", "Arguments are validated before they are used", "prompt-error"),
		notShown("implementation-considerations", "SHOULD", "client", "A long list is read page by page", "A client may have no need of the other pages."),
		shown("implementation-considerations", "SHOULD", "both", "Nobody uses what the other side did not declare", "prompt-capability", "ask-undeclared"),

		notShown("security", "MUST", "both", "What goes into a prompt and what comes out is checked for injections and for what is not allowed", whyInside),
	),

	on("server/resources",
		shown("", "MUST", "client", "Each request has the required members of _meta; the examples only leave them out", "meta-missing"),

		shown("capabilities", "MUST", "server", "A server that has resources declares it", "resource-capability"),
		shown("capabilities", "MUST", "server", "A server that declares resources answers resources/list", "resource-capability"),
		notShown("capabilities", "MUST NOT", "server", "The list depends on the connection, or on requests before it", whyChange),

		notShown("list-changed-notification", "SHOULD", "server", "Subscribers are told when the resources change, if that was declared", whyChange),

		notShown("https%3A%2F%2F", "SHOULD", "server", "An https resource is one that the client can fetch from the web by itself", "Whether a client could fetch it is not on the wire."),
		notShown("https%3A%2F%2F", "SHOULD", "server", "Anything else has another scheme, even if the server downloads it", "Where a server gets a resource from is not on the wire."),

		shown("custom-uri-schemes", "MUST", "server", "The URI of a resource is one by RFC 3986", "resource-uri"),

		shown("error-handling", "MUST", "server", "A resource that does not exist gets -32602", "error-retired"),
		notShown("error-handling", "SHOULD", "server", "A failure of the server itself gets -32603", whyCause),
		notShown("error-handling", "SHOULD", "client", "-32002 means not found as well, from older servers", whyInside),
		notShown("error-handling", "MUST NOT", "server", "A resource that does not exist is answered with no contents", "A resource that has no contents is answered in the same way."),

		shown("security-considerations", "MUST", "server", "All URIs are validated", "violation-accepted"),
		notShown("security-considerations", "SHOULD", "server", "Delicate resources are for those who may see them", whyPolicy),
		shown("security-considerations", "MUST", "server", "Binary data is encoded as it should be", "content-data"),
		notShown("security-considerations", "SHOULD", "server", "Permissions are looked at before anything is done", whyPolicy),
		shown("security-considerations", "MUST", "server", "A file URI does not lead out of the folders that are served", "violation-accepted"),
	),

	on("server/utilities/caching",
		shown("cacheable-results", "MUST", "server", "Complete results of the six cacheable methods have ttlMs and cacheScope", "cache-hints"),

		notShown("cache-key", "MUST NOT", "client", "A cached result is used for another method or other parameters", whyCache),
		notShown("cache-key", "MUST NOT", "other", "The result of a retry is cached", whyCache),

		notShown("time-to-live-ttl-field", "SHOULD", "client", "A ttlMs of 0 means stale at once", whyCache),
		notShown("time-to-live-ttl-field", "SHOULD", "client", "A positive one means fresh for so long", whyCache),
		notShown("time-to-live-ttl-field", "SHOULD", "client", "None at all means 0", whyCache),
		notShown("time-to-live-ttl-field", "SHOULD", "client", "A negative one means 0", whyCache),
		shown("time-to-live-ttl-field", "MUST", "server", "ttlMs is not negative", "cache-hints"),

		notShown("freshness-calculation", "SHOULD", "client", "What is stale is fetched again when it is next needed", whyCache),
		notShown("freshness-calculation", "SHOULD NOT", "client", "The end of its time alone makes a client fetch a result again", "A recording has no clock, and does not say why a client asks."),
		notShown("freshness-calculation", "MUST", "both", "Whoever polls spreads the polls and slows down", "A recording has no clock."),

		notShown("cache-scope-field", "MUST NOT", "other", "A private result is used for another authorization", whyCache),

		notShown("interaction-with-pagination", "SHOULD", "client", "A page that is stale is fetched again by its cursor", whyCache),
		notShown("interaction-with-pagination", "SHOULD", "client", "Whoever needs a consistent list starts at the first page", "What a client needs is not on the wire."),
		notShown("interaction-with-pagination", "SHOULD", "client", "After a cursor failed, all pages are dropped and the list is read from its beginning", whyCache),
		shown("interaction-with-pagination", "MUST", "server", "All pages of one list have one cacheScope", "cache-pages"),
		shown("interaction-with-pagination", "MUST", "server", "For example: after a private page, the others are private", "cache-pages"),

		notShown("security-considerations", "MUST", "server", "Authors know that a public result may reach anybody", whyWriting),
		notShown("security-considerations", "MUST", "server", "Access to each tool, prompt and resource is controlled", whyPolicy),
		notShown("security-considerations", "MUST NOT", "server", "cacheScope is all that keeps somebody out", whyPolicy),
	),
)
