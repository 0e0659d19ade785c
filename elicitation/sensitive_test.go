// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package elicitation_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/reprise-mcp/reprise/elicitation"
)

// ask builds a form with one property.
func ask(t *testing.T, name string, members map[string]any) error {
	t.Helper()
	b, err := json.Marshal(map[string]any{"type": "object", "properties": map[string]any{name: members}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = elicitation.ParseSchema(b)
	return err
}

func wantSensitive(t *testing.T, what string, err error, want bool) {
	t.Helper()
	if !want {
		if err != nil {
			t.Errorf("%s: false alarm: %v", what, err)
		}
		return
	}
	e, ok := errors.AsType[*elicitation.SchemaError](err)
	if !ok || !e.Sensitive || !strings.Contains(e.Error(), "URL mode") {
		t.Errorf("%s: got %v, want a refusal that names URL mode", what, err)
	}
}

func TestSecretsAreRefused(t *testing.T) {
	for _, name := range []string{
		"password", "Password", "PASSWORD", "new_password", "confirm-password", "password_confirmation", "password2", "userPassword", "passwd", "pwd",
		"passphrase", "passcode", "apiKey", "APIKey", "api_key", "API-KEY", "apikey", "githubApiKey", "openai_api_key", "access_key", "secretKey",
		"private_key", "sshPrivateKey", "token", "accessToken", "access_token", "GITHUB_TOKEN", "authToken", "bearer_token", "refreshToken", "id_token", "jwt",
		"secret", "client_secret", "clientSecret", "credentials", "pin", "otp", "otp_code", "one_time_code", "verificationCode", "mfa_code", "recovery_code",
		"card_number", "cardNumber", "creditCard", "credit_card_number", "ccNumber", "cvv", "cvc2", "card_cvv", "iban", "seed_phrase", "token_value", "token_for_github",
	} {
		wantSensitive(t, "name "+name, ask(t, name, map[string]any{"type": "string"}), true)
	}
	for _, title := range []string{
		"Password", "Your password", "API key", "GitHub API key (classic)", "Personal access token", "Token to use", "Card number", "Credit card", "PIN", "PIN code",
		"CVV / CVC", "New password:", "E-mail & password", "Client secret", "One-time code", "2FA code",
	} {
		wantSensitive(t, "title "+title, ask(t, "value", map[string]any{"type": "string", "title": title}), true)
	}
	for _, description := range []string{
		"Your password", "Password of at least 12 characters", "The API key of your account", "Please enter your GitHub personal access token.",
		"We need access. Paste your API key here.", "Enter the name and password of the user", "Type the 16 digits of your card number",
		"Your OpenAI API key, starting with sk-", "Provide a valid token", "Token for GitHub",
	} {
		wantSensitive(t, "description "+description, ask(t, "value", map[string]any{"type": "string", "description": description}), true)
	}
	wantSensitive(t, "format password", ask(t, "value", map[string]any{"type": "string", "format": "password"}), true)
	wantSensitive(t, "numeric pin", ask(t, "pin", map[string]any{"type": "integer"}), true)
	wantSensitive(t, "numeric card", ask(t, "card", map[string]any{"type": "number", "title": "Card number"}), true)

	type tagged struct {
		Value *string `json:"value" title:"API key"`
	}
	_, err := elicitation.NewForm[tagged]()
	wantSensitive(t, "struct tag", err, true)
	type formatted struct {
		Value string `format:"password"`
	}
	_, err = elicitation.NewForm[formatted]()
	wantSensitive(t, "struct format", err, true)
}

func TestMentioningASecretIsAllowed(t *testing.T) {
	for _, name := range []string{
		"token_count", "max_tokens", "maxTokens", "tokenLimit", "tokens", "tokenizer", "page_token", "nextPageToken", "continuation_token", "keyboard", "key", "keys",
		"public_key", "primaryKey", "idempotency_key", "sort_key", "monkey", "secretary", "secret_name", "secretName", "password_policy", "passwordLength", "password_hint",
		"token_type", "token_expiry", "credential_id", "api_key_id", "api_key_name", "pinned", "pin_version", "spin", "shopping", "card", "cardinality", "scorecard",
		"discard", "passport", "passport_number", "passport_no", "passage", "tokenize", "mapping", "pint", "hairpin", "secretariat", "accessKeyboard", "token_symbol", "private_key_path",
		"discard", "author", "compass", "passenger", "bypass", "username", "email", "name", "code", "country_code", "zipCode", "note", "account_number_format",
	} {
		wantSensitive(t, "name "+name, ask(t, name, map[string]any{"type": "string"}), false)
	}
	for _, title := range []string{"Token count", "Name of the API key", "Label for the new access token", "Number of tokens", "Key", "Password policy", "Secret name", "Country code", "Keyboard layout"} {
		wantSensitive(t, "title "+title, ask(t, "value", map[string]any{"type": "string", "title": title}), false)
	}
	for _, description := range []string{
		"A name for the new API key", "The user whose password will be reset", "Do not enter a password here", "Never type your password into this field",
		"The amount to be charged to your credit card", "Enter the account whose token is revoked", "Type a reason for the new API key", "Number of tokens to generate", "How long the token is valid", "The account whose token is revoked",
		"Your full name", "Ticket that explains the change", "Path of the file with the private key",
	} {
		wantSensitive(t, "description "+description, ask(t, "value", map[string]any{"type": "string", "description": description}), false)
	}
	// Nothing secret can be typed into these.
	wantSensitive(t, "boolean", ask(t, "reset_password", map[string]any{"type": "boolean", "title": "Reset the password"}), false)
	wantSensitive(t, "choice", ask(t, "token", map[string]any{"type": "string", "enum": []string{"keep", "rotate"}}), false)
	wantSensitive(t, "multiple choice", ask(t, "credentials", map[string]any{"type": "array", "items": map[string]any{"type": "string", "enum": []string{"a"}}}), false)
}
