import { randomBytes } from 'node:crypto';
import type { Answer } from '../answer.ts';
import { type AuthorizationRequest, backToClient, readAuthorizationRequest } from './authorization-request.ts';
import { consentPage, errorPage, type Form, signInPage, workspacePage } from './pages.ts';
import type { McpParts } from './parts.ts';
import { type Person, defaultPeople as people } from './people.ts';
import type { McpRequest } from './request.ts';
import { clamp } from './scopes.ts';

interface Pending {
  request: AuthorizationRequest;
  /** Undefined before the person has signed in. */
  person?: Person | undefined;
  expiresAt: number;
}

/** How long the pages may stay open. This time, and the order and number of the pages, are assumed. */
const pendingMs = 10 * 60_000;

/**
 * Serves {base_url}/oauth/authorize, "opened in the browser: sign-in, consent screen, workspace picker". GET begins,
 * and the pages post their forms to the same path (the methods are assumed).
 */
export class Authorize {
  readonly #parts: McpParts;
  readonly #pending = new Map<string, Pending>();

  constructor(parts: McpParts) {
    this.#parts = parts;
  }

  begin({ query, nowMs }: McpRequest): Answer {
    const { store, workspaces, issuer } = this.#parts;
    const read = readAuthorizationRequest(store, query, issuer());
    if ('answer' in read) return read.answer;
    // "Until then every authorization attempt is refused."
    if (!workspaces.all.some(({ mcp_enabled }) => mcp_enabled)) {
      return this.#denied(read.request, 'An administrator has not enabled MCP');
    }
    for (const [old, { expiresAt }] of this.#pending) if (nowMs > expiresAt) this.#pending.delete(old);
    const id = randomBytes(24).toString('base64url');
    const pending = { request: read.request, expiresAt: nowMs + pendingMs };
    this.#pending.set(id, pending);
    return signInPage(this.#form(id, pending), people);
  }

  /** Handles a posted form. */
  proceed({ body, nowMs }: McpRequest): Answer {
    const form = new URLSearchParams(body.toString('utf8'));
    const id = form.get('request') ?? '';
    const pending = this.#pending.get(id);
    if (!pending || nowMs > pending.expiresAt) {
      return errorPage(400, 'This sign-in is over. Start again from the application.');
    }
    switch (form.get('step')) {
      case 'sign-in':
        return this.#signIn(id, pending, form);
      case 'google':
        return this.#enter(id, pending, personOf(form.get('user_id')));
      case 'workspace':
        return this.#askConsent(id, pending, form);
      case 'consent':
        return this.#decide(id, pending, form, nowMs);
      default:
        return errorPage(400, 'The form is not one of this page.');
    }
  }

  #signIn(id: string, pending: Pending, form: URLSearchParams): Answer {
    const person = people.find(({ email }) => email.toLowerCase() === form.get('email')?.trim().toLowerCase());
    if (person === undefined || person.password !== form.get('password')) {
      return signInPage(this.#form(id, pending), people, 'Email or password is wrong.');
    }
    return this.#enter(id, pending, person);
  }

  #enter(id: string, pending: Pending, person: Person | undefined): Answer {
    pending.person = person;
    if (!person) return signInPage(this.#form(id, pending), people);
    const offered = this.#parts.workspaces.offeredTo(person.user_id);
    if (offered.length === 0) return this.#denied(pending.request, 'None of your workspaces has MCP enabled');
    return workspacePage(this.#form(id, pending), person.email, offered);
  }

  #askConsent(id: string, pending: Pending, form: URLSearchParams): Answer {
    const chosen = this.#choice(pending, form);
    if (!chosen) return this.#enter(id, pending, pending.person);
    const { person, workspace, scopes } = chosen;
    return consentPage(this.#form(id, pending), person.email, pending.request.client, workspace, scopes);
  }

  #decide(id: string, pending: Pending, form: URLSearchParams, nowMs: number): Answer {
    const { codes, grants, issuer } = this.#parts;
    const { request } = pending;
    const chosen = this.#choice(pending, form);
    if (!chosen) return this.#enter(id, pending, pending.person);
    this.#pending.delete(id);
    if (form.get('decision') !== 'allow') return this.#denied(request, 'The person did not allow it');
    const approved = form.getAll('scope');
    const { client, redirect_uri, code_challenge, resource } = request;
    const { grant_id } = grants.approve({
      client_id: client.client_id,
      user_id: chosen.person.user_id,
      workspace_id: chosen.workspace.workspace_id,
      scopes: chosen.scopes.filter((scope) => approved.includes(scope)),
      resource,
    });
    const code = codes.issue({ grant_id, client_id: client.client_id, redirect_uri, code_challenge, resource }, nowMs);
    return backToClient(request, issuer(), { code });
  }

  /** The workspace that the form names, if the person may choose it. */
  #choice({ person, request }: Pending, form: URLSearchParams) {
    if (!person) return undefined;
    const offered = this.#parts.workspaces.offeredTo(person.user_id);
    const workspace = offered.find(({ workspace_id }) => workspace_id === form.get('workspace_id'));
    return workspace && { person, workspace, scopes: clamp(request.scope, workspace.mcp_scopes) };
  }

  #form(request: string, pending: Pending): Form {
    return { action: this.#parts.authorizePath, request, redirectUri: pending.request.redirect_uri };
  }

  #denied(request: AuthorizationRequest, error_description: string): Answer {
    return backToClient(request, this.#parts.issuer(), { error: 'access_denied', error_description });
  }
}

function personOf(id: string | null): Person | undefined {
  return people.find(({ user_id }) => user_id === id);
}
