import {
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLInputType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredInputField,
} from 'graphql';

/** Where values come from that depend on who calls. */
export interface ValueSource {
  /** A global id of this type that the caller may use. */
  id(nodeType: string): string;
  /** A word that makes a text one of a kind. */
  word(): string;
  /** Of a oneOf input, the alternatives to take first: `agentId` for an agent. */
  readonly prefers: readonly string[];
}

/** The path of the argument that is tried out, so that the others can fit to it. */
export type Probe = readonly string[];

type Rule = (source: ValueSource, probe: Probe) => unknown;

const subjectOf = (probe: Probe) =>
  probe.at(-1) === 'agentId' ? 'AGENT' : probe.at(-1) === 'userId' ? 'USER' : 'TENANT_AUDITOR';

/**
 * Values of required arguments that their type alone does not give, by `Type.field` or by name. A required argument
 * that none of these fits makes the suite fail; add it here.
 */
const RULES: Readonly<Record<string, Rule>> = {
  'CreateApiKeyInput.role': (_source, probe) => subjectOf(probe),
  'CreateTenantInput.slug': (source) => `tenant-${source.word()}`,
  'FactMatch.text': () => 'service',
  'FactMatch.kind': () => 'CONVENTION',
  'RestoreOverridePolicyInput.version': () => 1,
  'RestoreSalienceProfileInput.version': () => 1,
  content: (source) => `I use the ${source.word()} editor`,
  displayName: (source) => `Person ${source.word()}`,
  externalId: (source) => `external-${source.word()}`,
  name: (source) => `Name ${source.word()}`,
  query: () => 'service',
  text: (source) => `The ${source.word()} service never sleeps on ${source.word()}`,
  topic: (source) => `topic ${source.word()}`,
};

/** Types that `node` finds and whose names do not end like the arguments that take their ids. */
const NODE_TYPE_OF_NAME: Readonly<Record<string, string>> = {
  jobId: 'RescoreJob',
  CancelRescoreInput: 'RescoreJob',
  RestoreOverridePolicyInput: 'Tenant',
  SessionChoice: 'Session',
  recallReceipt: 'KeptRecallReceipt',
};

/**
 * The value of an argument or input field that must be given.
 * @param owner the name of the input type, or of the field whose argument it is
 * @throws when no rule says what to give, naming the line to add
 */
export function requiredValue(
  owner: string,
  input: GraphQLArgument | GraphQLInputField,
  source: ValueSource,
  nodeTypes: readonly string[],
  probe: Probe = [],
): unknown {
  return valueFor(input.type, owner, input.name, source, nodeTypes, probe);
}

function valueFor(
  type: GraphQLInputType,
  owner: string,
  name: string,
  source: ValueSource,
  nodeTypes: readonly string[],
  probe: Probe,
): unknown {
  if (isNonNullType(type)) return valueFor(type.ofType, owner, name, source, nodeTypes, probe);
  if (isListType(type)) return [valueFor(type.ofType, owner, name, source, nodeTypes, probe)];
  const rule = RULES[`${owner}.${name}`] ?? RULES[name];
  if (rule) return rule(source, probe);
  if (isEnumType(type)) return type.getValues()[0]?.name;
  if (isInputObjectType(type)) {
    const fields = Object.values(type.getFields());
    const given = type.isOneOf
      ? [fields.find((field) => source.prefers.includes(field.name)) ?? fields[0]]
      : fields.filter(isRequiredInputField);
    return Object.fromEntries(
      given.flatMap((field) =>
        field ? [[field.name, valueFor(field.type, type.name, field.name, source, nodeTypes, probe)]] : [],
      ),
    );
  }
  switch (getNamedType(type).name) {
    case 'ID': {
      const nodeType = nodeTypeOf(owner, name, nodeTypes);
      if (nodeType) return source.id(nodeType);
      break;
    }
    case 'Boolean':
      return true;
    case 'DateTime':
      return '2026-01-02T03:04:05.000Z';
    case 'JSON':
      return {};
  }
  throw new Error(
    `The leak suite does not know what to give for the required argument ${owner}.${name} of type ${String(type)}: add a rule for '${owner}.${name}' to RULES${getNamedType(type).name === 'ID' ? ' or NODE_TYPE_OF_NAME' : ''} in test/leaks/values.ts`,
  );
}

/**
 * Which type's ids an argument takes: by its own name (`userId`, `sourceMessageIds`), or, where it is just `id`, by the
 * name of its input type or field (`PinFactInput`). Null: any, or unknown.
 */
export function nodeTypeOf(owner: string, name: string, nodeTypes: readonly string[]): string | null {
  const given = NODE_TYPE_OF_NAME[name] ?? NODE_TYPE_OF_NAME[owner];
  if (given) return given;
  const stem = name.replace(/Ids?$/, '').toLowerCase();
  const byLength = [...nodeTypes].sort((a, b) => b.length - a.length);
  if (!/^ids?$/i.test(name)) {
    const byName = byLength.find((type) => stem.endsWith(type.toLowerCase()));
    if (byName) return byName;
  }
  return byLength.find((type) => owner.toLowerCase().includes(type.toLowerCase())) ?? null;
}

/** The ways into an input that end at a scalar of this name. */
export function* inputPaths(
  scalar: string,
  type: GraphQLInputType,
  owner: string,
  path: Probe,
  seen: readonly string[] = [],
): Generator<{ path: Probe; owner: string; name: string }> {
  const named = getNamedType(type);
  if (named.name === scalar) yield { path, owner, name: path.at(-1) ?? '' };
  if (!isInputObjectType(named) || seen.includes(named.name)) return;
  for (const field of Object.values(named.getFields())) {
    yield* inputPaths(scalar, field.type, named.name, [...path, field.name], [...seen, named.name]);
  }
}

/** An argument's value with the probe in its place and, around it, whatever must be given. */
export function withProbe(
  type: GraphQLInputType,
  path: Probe,
  depth: number,
  probe: { readonly path: Probe; readonly value: unknown },
  source: ValueSource,
  nodeTypes: readonly string[],
): unknown {
  if (isNonNullType(type)) return withProbe(type.ofType, path, depth, probe, source, nodeTypes);
  if (isListType(type)) {
    const several = depth === path.length && Array.isArray(probe.value);
    return several ? probe.value : [withProbe(type.ofType, path, depth, probe, source, nodeTypes)];
  }
  if (depth === path.length) return probe.value;
  const named = getNamedType(type);
  if (!isInputObjectType(named)) throw new Error(`${path.join('.')} is no path of ${named.name}`);
  const fields = Object.values(named.getFields()).filter(
    (field) => field.name === path[depth] || (!named.isOneOf && isRequiredInputField(field)),
  );
  return Object.fromEntries(
    fields.map((field) => [
      field.name,
      field.name === path[depth]
        ? withProbe(field.type, path, depth + 1, probe, source, nodeTypes)
        : requiredValue(named.name, field, source, nodeTypes, probe.path),
    ]),
  );
}
