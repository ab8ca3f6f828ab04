import type { ExecutionArgs, GraphQLSchema } from 'graphql';
import { getOperationAST, Kind, type OperationDefinitionNode } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { RateState } from '../limits/index.js';
import type { Logger } from '../log.js';
import type { OperationSample, Telemetry, Tracing, Transport } from '../telemetry/index.js';
import type { Actor } from '../tenancy/index.js';
import { currentScope } from './request-scope.js';

/** What becomes of one operation: filled in on its way, told when it has been answered. */
export class OperationRecord {
  readonly #begun = performance.now();
  type: OperationSample['type'] = 'none';
  outcome = 'OK';
  /** The schema's names of its root fields; a caller's own names could be anything. */
  fields: readonly string[] = [];
  cost: number | undefined;
  actor: Actor | null = null;
  /** How its caller's rate stands; absent where it has none. */
  rate: RateState | undefined;
  #told = false;

  /** Notes an error of the answer; the first one is the outcome. @param code of the table of error codes */
  failed(code: string): void {
    if (this.outcome === 'OK') this.outcome = code;
  }

  /** Counts it and writes its line to the log, once. @param status of HTTP, where there is one */
  tell({ metrics }: Telemetry, log: Logger, transport: Transport, status?: number): void {
    if (this.#told) return;
    this.#told = true;
    const { type, outcome, fields, cost, actor } = this;
    const seconds = (performance.now() - this.#begun) / 1_000;
    const tenantId = actor?.tenant?.id;
    metrics.operation({ transport, type, outcome, seconds, cost, tenantId });
    log.info(
      {
        requestId: currentScope()?.id,
        transport,
        operation: type,
        fields,
        outcome,
        status,
        ms: Math.round(seconds * 1_000),
        cost,
        tenantId,
        keyId: actor?.keyId ?? undefined,
        role: actor?.kind,
      },
      'request',
    );
  }
}

/** Notes what is run, and runs it as a span of the request's trace. */
export function useOperationRecord(tracing: Tracing): Plugin {
  const traced = <T>(args: ExecutionArgs, run: (args: ExecutionArgs) => T): T => {
    const record = currentScope()?.record;
    if (!record) return run(args);
    const attributes = { 'graphql.operation.type': record.type, 'salient.fields': record.fields.join(' ') };
    return tracing.span(`graphql ${record.type}`, attributes, () => run(args));
  };
  return {
    onExecute({ args, executeFn, setExecuteFn }) {
      note(currentScope()?.record, args as ExecutionArgs);
      setExecuteFn((args) => traced(args as ExecutionArgs, executeFn as never));
    },
    onSubscribe({ args, subscribeFn, setSubscribeFn }) {
      note(currentScope()?.record, args as ExecutionArgs);
      setSubscribeFn((args) => traced(args as ExecutionArgs, subscribeFn as never) as never);
    },
  };
}

function note(record: OperationRecord | undefined, args: ExecutionArgs): void {
  const operation = getOperationAST(args.document, args.operationName);
  if (!record || !operation) return;
  record.type = operation.operation;
  record.fields = rootFields(operation, args.schema);
  record.actor = (args.contextValue as { actor?: Actor | null } | undefined)?.actor ?? null;
}

/** Those that it names itself and the schema has; what comes by fragments is left out, for it is only to be read. */
function rootFields(operation: OperationDefinitionNode, schema: GraphQLSchema): string[] {
  const known = schema.getRootType(operation.operation)?.getFields() ?? {};
  const names = operation.selectionSet.selections.flatMap((node) =>
    node.kind === Kind.FIELD && Object.hasOwn(known, node.name.value) ? [node.name.value] : [],
  );
  return [...new Set(names)].slice(0, 10);
}
