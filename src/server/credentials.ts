/** What a request shows of itself; see authenticate in tenancy. */
export interface ShownCredentials {
  readonly authorization: string | null;
  readonly tenantSlug: string | null;
}

export const AUTHORIZATION_HEADER = 'authorization';
export const TENANT_HEADER = 'x-salient-tenant';

export function credentialsOfHeaders(headers: { get(name: string): string | null }): ShownCredentials {
  return { authorization: headers.get(AUTHORIZATION_HEADER), tenantSlug: headers.get(TENANT_HEADER) };
}

/** The same from a WebSocket's `connectionParams`: browsers cannot set headers there. Case of the keys is free. */
export function credentialsOfParams(params: Readonly<Record<string, unknown>> | undefined): ShownCredentials {
  const found: { authorization: string | null; tenantSlug: string | null } = {
    authorization: null,
    tenantSlug: null,
  };
  for (const [name, value] of Object.entries(params ?? {})) {
    if (typeof value !== 'string') continue;
    const key = name.toLowerCase();
    if (key === AUTHORIZATION_HEADER) found.authorization = value;
    if (key === TENANT_HEADER || key === 'tenant') found.tenantSlug = value;
  }
  return found;
}
