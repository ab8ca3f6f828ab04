import { afterAll, describe, expect, it } from 'vitest';
import { MARKER, Probe, sse } from './support.js';

const probe = new Probe();
afterAll(() => probe[Symbol.asyncDispose]());

interface Shown {
  message: string;
  path?: unknown[];
  extensions: Record<string, unknown>;
}
type Transport = (query: string, variables?: Record<string, unknown>) => Promise<Shown>;

const transports: Record<string, Transport> = {
  HTTP: async (query, variables) => {
    const body = (await (await probe.post({ query, variables })).json()) as { errors: Shown[] };
    return body.errors[0] as Shown;
  },
  SSE: async (query, variables) => {
    const response = await probe.post({ query, variables }, { accept: 'text/event-stream' });
    let last: Shown | undefined;
    for await (const { event, data } of sse(response)) {
      if (event === 'next') last = (data as { errors?: Shown[] }).errors?.[0] ?? last;
    }
    return last as Shown;
  },
  WebSocket: async (query, variables) => {
    const client = await probe.socket();
    return new Promise((resolve, reject) => {
      let last: Shown | undefined;
      client.subscribe(
        { query, variables },
        {
          next: ({ errors }) => {
            last = (errors?.[0] as unknown as Shown) ?? last;
          },
          error: (error) => (Array.isArray(error) ? resolve(error[0] as Shown) : reject(error)),
          complete: () => resolve(last as Shown),
        },
      );
    });
  },
};

describe.each(Object.entries(transports))('an error over %s', (_name, send) => {
  it('of Salient is shown, with its code', async () => {
    expect(await send('{ boom(kind: "input") }')).toMatchObject({
      message: 'first must be from 1 to 100',
      path: ['boom'],
      extensions: { code: 'BAD_INPUT', inputPath: ['first'] },
    });
    expect((await send('{ boom(kind: "unavailable") }')).extensions).toEqual({
      code: 'UNAVAILABLE',
      retryable: true,
    });
  });

  it.each(['error', 'text', 'graphql', 'database'])('of another kind is masked: %s', async (kind) => {
    probe.logged.length = 0;
    const error = await send(`{ boom(kind: "${kind}") }`);
    expect(error.message).toBe('Internal error');
    expect(error.path).toEqual(['boom']);
    expect(Object.keys(error.extensions).sort()).toEqual(['code', 'id']);
    expect(error.extensions.code).toBe('INTERNAL');
    expect(JSON.stringify(error)).not.toContain(MARKER);
    const [line, ...others] = probe.logged.filter((entry) => entry.includes('"internal error"'));
    expect(others).toEqual([]);
    const entry = JSON.parse(line as string) as Record<string, unknown>;
    expect(entry.id).toBe(error.extensions.id);
    expect(entry.requestId).toEqual(expect.any(String));
    expect(probe.logged.join()).not.toContain(MARKER);
    if (kind === 'database') expect(entry).toMatchObject({ code: 'P2010', sqlState: '22P02' });
    if (kind === 'error')
      expect(entry).toMatchObject({ errorClass: 'Error', stack: expect.stringContaining('support.ts') });
  });

  it('of a resolver that breaks its promise is masked', async () => {
    expect((await send('{ required }')).extensions.code).toBe('INTERNAL');
    const serialised = await send('{ number }');
    expect(serialised.extensions.code).toBe('INTERNAL');
    expect(JSON.stringify(serialised)).not.toContain(MARKER);
  });

  it('of the request itself is shown', async () => {
    expect((await send('{ who ')).extensions.code).toBe('GRAPHQL_PARSE_FAILED');
    expect(await send('{ nothing }')).toMatchObject({
      message: expect.stringContaining('Cannot query field "nothing"'),
      extensions: { code: 'GRAPHQL_VALIDATION_FAILED' },
    });
    expect(await send('query ($text: String) { needs(text: $text) }', {})).toMatchObject({
      extensions: { code: 'GRAPHQL_VALIDATION_FAILED' },
    });
    expect(await send('query ($text: String = "a") { needs(text: $text) }', { text: null })).toMatchObject({
      path: ['needs'],
      extensions: { code: 'BAD_INPUT' },
    });
    expect((await send('query A { who } query B { who }')).extensions.code).toBeTypeOf('string');
  });

  it('about a variable names the place and the reason, not the value', async () => {
    const query = 'mutation ($input: WriteInput) { write(input: $input) }';
    const shown = async (input: unknown) => {
      const { message, extensions } = await send(query, { input });
      expect(extensions.code).toBe('BAD_INPUT');
      expect(message).not.toContain(MARKER);
      return message;
    };
    expect(await shown({ text: MARKER, extra: MARKER })).toBe(
      'Variable "$input" has an invalid value: Field "extra" is not defined by type "WriteInput"',
    );
    expect(await shown({ count: 1 })).toBe(
      'Variable "$input" has an invalid value: Field "text" of required type "String!" was not provided',
    );
    expect(await shown({ text: MARKER, count: MARKER })).toBe(
      'Variable "$input" has an invalid value at "input.count": Int cannot represent it',
    );
    expect(await shown({ text: { [MARKER]: `x; Field "y" is at "${MARKER}"; ${MARKER}` } })).toMatch(
      /^Variable "\$input" has an invalid value/,
    );
    expect(await shown(`${MARKER} at "x"; ${MARKER}`)).toMatch(/^Variable "\$input" has an invalid value/);
  });
});

describe.each(['SSE', 'WebSocket'])('a stream over %s', (name) => {
  const send = transports[name] as Transport;

  it('that breaks ends with a masked error', async () => {
    probe.logged.length = 0;
    const error = await send('subscription { breaks(kind: "error") }');
    expect(error).toMatchObject({
      message: 'Internal error',
      extensions: { code: 'INTERNAL', id: expect.any(String) },
    });
    expect(JSON.stringify(error) + probe.logged.join()).not.toContain(MARKER);
    expect((await send('subscription { breaks(kind: "unavailable") }')).extensions).toEqual({
      code: 'UNAVAILABLE',
      retryable: true,
    });
  });

  it('that is refused from the start says why, or masks it', async () => {
    expect((await send('subscription { refuses(kind: "input") }')).extensions.code).toBe('BAD_INPUT');
    const masked = await send('subscription { refuses(kind: "graphql") }');
    expect(masked.extensions.code).toBe('INTERNAL');
    expect(JSON.stringify(masked)).not.toContain(MARKER);
  });
});
