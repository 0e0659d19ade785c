// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

// rules are all there are, in the order in which they are applied.
var rules = []Rule{
	ruleJsonRpc,
	ruleJsonRepeatedName,
	ruleIdType,
	ruleIdReused,
	ruleIdAnswered,
	ruleMetaMissing,
	ruleMetaClient,
	ruleHeaderVersion,
	ruleHeaderMethod,
	ruleHeaderName,
	ruleHeaderAccept,
	ruleClientResponds,
	ruleServerRequests,
	ruleResultType,
	ruleAskMethod,
	ruleAskEmpty,
	ruleAskKind,
	ruleAskUndeclared,
	ruleAskAgain,
	ruleCacheOnAsk,
	ruleCacheHints,
	ruleRetryId,
	ruleRetryState,
	ruleRetryElsewhere,
	ruleRetryArguments,
	ruleAnswerObject,
	ruleAnswerMissing,
	ruleAnswerUnasked,
	ruleAnswerShape,
	ruleAnswerSchema,
	ruleSchemaFlat,
	ruleSchemaEmpty,
	ruleSchemaSecret,
	ruleElicitParams,
	ruleUrlSafe,
	ruleLegacyElicitation,
	ruleLegacyMethod,
	ruleToolContent,
	ruleErrorShape,
	ruleErrorData,
	ruleErrorRetired,
	ruleHttpStatus,
	ruleViolationAccepted,
}

// Rules returns all rules.
func Rules() []Rule { return append([]Rule(nil), rules...) }
