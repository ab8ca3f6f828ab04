import type { App } from '../app.js';
import { CliError } from './cli-error.js';

/** Waits between attempts on a server that does not answer or asks for patience, in milliseconds. */
const RETRY_DELAYS_MS = [500, 2_000, 8_000];

/** A request of the API was refused; `code` of {@link CliError} aside, the API's own code is in `reason`. */
export class RefusedError extends CliError {
  constructor(
    /** The API's code, such as `NOT_FOUND`. */
    readonly reason: string,
    message: string,
    /** Path of the input at fault, from the mutation's input on; empty where it named none. */
    readonly inputPath: readonly (string | number)[] = [],
  ) {
    super(`${reason}: ${message}`, 'REFUSED');
  }
}

interface Told {
  readonly message: string;
  readonly code?: string;
  readonly path?: (string | number)[];
  readonly extensions?: { readonly code?: string };
}

/** A client of the GraphQL API: of a Salient in this process, or of a server. */
export class ApiClient {
  private constructor(
    private readonly send: (request: Request) => Promise<Response>,
    private readonly url: string,
    private readonly key: string,
    private readonly tenant: string | null,
  ) {}

  /** Asks a Salient in this process, the same requests as over HTTP. */
  static inProcess(app: Pick<App, 'fetch'>, key: string, tenant: string | null = null): ApiClient {
    return new ApiClient((request) => app.fetch(request), 'http://salient/graphql', key, tenant);
  }

  /**
   * Asks a server, again after a pause where it is not reached or says that it is busy.
   * @param url of the server, with or without `/graphql`
   * @throws CliError for what is no http(s) URL
   */
  static of(url: string, key: string, tenant: string | null = null): ApiClient {
    const endpoint = URL.canParse(url) ? new URL(url) : null;
    if (!endpoint || !/^https?:$/.test(endpoint.protocol))
      throw new CliError('--url must be an address like http://127.0.0.1:4000');
    if (!endpoint.pathname.endsWith('/graphql'))
      endpoint.pathname = `${endpoint.pathname.replace(/\/$/, '')}/graphql`;
    return new ApiClient(sendPatiently, endpoint.href, key, tenant);
  }

  /** The same caller in the tenant that it names by header. */
  in(tenant: string): ApiClient {
    return new ApiClient(this.send, this.url, this.key, tenant);
  }

  /** @throws RefusedError for errors at the top and in a payload; CliError where the server is not reached */
  async ask<T>(query: string, variables: Record<string, unknown> = {}): Promise<T> {
    const response = await this.send(
      new Request(this.url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json',
          authorization: `Bearer ${this.key}`,
          ...(this.tenant ? { 'x-salient-tenant': this.tenant } : {}),
        },
        body: JSON.stringify({ query, variables }),
      }),
    );
    const body: unknown = await response.json().catch(() => null);
    if (typeof body !== 'object' || body === null)
      throw new CliError(`The server answered ${response.status}, and not as Salient does`, 'UNREACHABLE');
    const { data, errors } = body as {
      data?: Record<string, { errors?: Told[] } | null> | null;
      errors?: Told[];
    };
    const [refused] = errors ?? Object.values(data ?? {}).flatMap((payload) => payload?.errors ?? []);
    if (refused)
      throw new RefusedError(
        refused.extensions?.code ?? refused.code ?? 'REFUSED',
        refused.message,
        refused.extensions ? [] : refused.path,
      );
    return data as T;
  }
}

async function sendPatiently(request: Request): Promise<Response> {
  for (let attempt = 0; ; attempt++) {
    const delay = RETRY_DELAYS_MS[attempt];
    try {
      const response = await fetch(request.clone());
      if (delay === undefined || ![429, 502, 503, 504].includes(response.status)) return response;
      await response.body?.cancel();
    } catch (error) {
      if (delay === undefined) {
        const code = ((error as Error).cause as { code?: string } | undefined)?.code ?? 'no answer';
        throw new CliError(`${new URL(request.url).origin} is not reached: ${code}`, 'UNREACHABLE');
      }
    }
    await new Promise((resolve) => setTimeout(resolve, delay));
  }
}
