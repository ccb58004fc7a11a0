/** Services get their ClusterIPs and node ports from the server. */
import { isRecord, type JsonRecord, recordOr } from '../../../is-record.ts';
import { duplicate, type FieldError, invalidValue, notSupported, required } from '../../status-error.ts';
import type { ServiceAddresses, Strategy } from '../types.ts';

type Family = 'IPv4' | 'IPv6';

export const SERVICE_STRATEGY: Strategy = {
  nameRule: 'label',
  createsOnUpdate: true,
  returnsDeleted: true,
  defaults: (object) => ({ ...object, spec: withDefaults(recordOr(object['spec'])) }),
  prepare: (object, old, { services }) => {
    const own = ofItsType(recordOr(object['spec']));
    const addressed = withAddresses(own, recordOr(old?.['spec']), services);
    return {
      ...object,
      spec: withNodePorts(addressed, recordOr(old?.['spec']), services),
      status: old === undefined ? { loadBalancer: {} } : object['status'],
    };
  },
  validate: (object, old, { services }) => validate(recordOr(object['spec']), recordOr(old?.['spec']), services),
};

const TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];

const withDefaults = ({ sessionAffinityConfig, ...spec }: JsonRecord): JsonRecord => {
  const { type } = spec;
  const external = type === 'NodePort' || type === 'LoadBalancer';
  const sticky = spec['sessionAffinity'] === 'ClientIP';
  return {
    type: 'ClusterIP',
    sessionAffinity: 'None',
    ...(type === 'ExternalName' ? {} : { internalTrafficPolicy: 'Cluster' }),
    ...(external ? { externalTrafficPolicy: 'Cluster' } : {}),
    ...(type === 'LoadBalancer' ? { allocateLoadBalancerNodePorts: true } : {}),
    ...spec,
    ...(Array.isArray(spec['ports']) ? { ports: spec['ports'].map(withPortDefaults) } : {}),
    ...(sticky
      ? { sessionAffinityConfig: { clientIP: { timeoutSeconds: 10_800 }, ...recordOr(sessionAffinityConfig) } }
      : {}),
  };
};

/** What belongs to another type of Service goes when the type changes. */
const ofItsType = (spec: JsonRecord): JsonRecord => {
  const isBalanced = spec['type'] === 'LoadBalancer';
  return without(spec, [
    ...(isBalanced || spec['type'] === 'NodePort' ? [] : ['externalTrafficPolicy']),
    ...(isBalanced ? [] : ['allocateLoadBalancerNodePorts', 'healthCheckNodePort']),
  ]);
};

const withPortDefaults = (port: unknown): JsonRecord => {
  const given = recordOr(port);
  return { protocol: 'TCP', targetPort: given['port'], ...given };
};

/** `clusterIP` and `clusterIPs`, the families and the policy, whichever of them the user gave. */
const withAddresses = (spec: JsonRecord, old: JsonRecord, services: ServiceAddresses): JsonRecord => {
  if (spec['type'] === 'ExternalName')
    return without(spec, ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy']);
  const given = addressesOf(spec).length > 0 ? addressesOf(spec) : addressesOf(old);
  const families = familiesOf(spec, given, services);
  const policy = spec['ipFamilyPolicy'] ?? (families.length > 1 ? 'RequireDualStack' : 'SingleStack');
  if (given[0] === 'None') {
    return { ...spec, clusterIP: 'None', clusterIPs: ['None'], ipFamilies: families, ipFamilyPolicy: policy };
  }
  const ips = families.map((family) => given.find((ip) => familyOf(ip) === family) ?? services.nextClusterIp(family));
  const clusterIPs = ips.filter((ip) => ip !== undefined);
  return { ...spec, clusterIP: clusterIPs[0], clusterIPs, ipFamilies: families, ipFamilyPolicy: policy };
};

const familiesOf = (spec: JsonRecord, given: readonly string[], { families }: ServiceAddresses): Family[] => {
  const desired = strings(spec['ipFamilies']).filter(
    (family): family is Family => family === 'IPv4' || family === 'IPv6',
  );
  const fromIps = given.filter((ip) => ip !== 'None').map(familyOf);
  const chosen = desired.length > 0 ? desired : [...new Set(fromIps)];
  const dual = spec['ipFamilyPolicy'] === 'PreferDualStack' || spec['ipFamilyPolicy'] === 'RequireDualStack';
  const all = [...new Set([...chosen, ...families])];
  return dual ? all : all.slice(0, Math.max(1, chosen.length));
};

const withNodePorts = (spec: JsonRecord, old: JsonRecord, services: ServiceAddresses): JsonRecord => {
  const ports = Array.isArray(spec['ports']) ? spec['ports'].filter(isRecord) : [];
  if (spec['type'] !== 'NodePort' && spec['type'] !== 'LoadBalancer') {
    return ports.length === 0 ? spec : { ...spec, ports: ports.map((port) => without(port, ['nodePort'])) };
  }
  if (spec['type'] === 'LoadBalancer' && spec['allocateLoadBalancerNodePorts'] === false) return spec;
  const taken = new Set(ports.map((port) => Number(port['nodePort'] ?? 0)));
  const before = Array.isArray(old['ports']) ? old['ports'].filter(isRecord) : [];
  const withPort = ports.map((port) => {
    if (port['nodePort']) return port;
    const same = before.find((other) => other['port'] === port['port'] && other['protocol'] === port['protocol']);
    const nodePort = same?.['nodePort'] ?? services.nextNodePort(taken);
    taken.add(Number(nodePort));
    return { ...port, nodePort };
  });
  return withHealthCheck({ ...spec, ports: withPort }, old, services, taken);
};

/** A load balancer with local traffic policy asks each node whether it has an endpoint. */
const withHealthCheck = (
  spec: JsonRecord,
  old: JsonRecord,
  services: ServiceAddresses,
  taken: ReadonlySet<number>,
): JsonRecord => {
  if (spec['type'] !== 'LoadBalancer' || spec['externalTrafficPolicy'] !== 'Local') return spec;
  const port = spec['healthCheckNodePort'] || old['healthCheckNodePort'] || services.nextNodePort(taken);
  return { ...spec, healthCheckNodePort: port };
};

const validate = (spec: JsonRecord, old: JsonRecord, services: ServiceAddresses): FieldError[] => {
  const ports = Array.isArray(spec['ports']) ? spec['ports'].filter(isRecord) : [];
  const headless = addressesOf(spec)[0] === 'None';
  const external = spec['type'] === 'ExternalName';
  return [
    ...(TYPES.includes(String(spec['type'])) ? [] : [notSupported('spec.type', spec['type'], TYPES)]),
    ...(ports.length === 0 && !headless && !external ? [required('spec.ports')] : []),
    ...ports.flatMap((port, i) => validatePort(port, `spec.ports[${i}]`, ports.length)),
    ...validateTwins(ports),
    ...(external ? [] : validateAddresses(spec, old, services)),
    ...validateNodePorts(ports, old, services),
  ];
};

const validatePort = (port: JsonRecord, field: string, count: number): FieldError[] => {
  const number = port['port'];
  return [
    ...(Number.isInteger(number) && Number(number) > 0 && Number(number) < 65_536
      ? []
      : [invalidValue(`${field}.port`, number, 'must be between 1 and 65535, inclusive')]),
    ...(count > 1 && !port['name'] ? [required(`${field}.name`)] : []),
    ...(['TCP', 'UDP', 'SCTP'].includes(String(port['protocol']))
      ? []
      : [notSupported(`${field}.protocol`, port['protocol'], ['SCTP', 'TCP', 'UDP'])]),
  ];
};

/** Neither a name nor a port and protocol may be there twice. */
const validateTwins = (ports: readonly JsonRecord[]): FieldError[] =>
  ports.flatMap((port, i) => {
    const before = ports.slice(0, i);
    const { name, port: number, protocol } = port;
    return [
      ...(name && before.some((other) => other['name'] === name) ? [duplicate(`spec.ports[${i}].name`, name)] : []),
      ...(before.some((other) => other['port'] === number && other['protocol'] === protocol)
        ? [duplicate(`spec.ports[${i}]`, { Port: number, Protocol: protocol })]
        : []),
    ];
  });

const validateAddresses = (spec: JsonRecord, old: JsonRecord, services: ServiceAddresses): FieldError[] => {
  const before = addressesOf(old);
  const now = addressesOf(spec);
  const changed = before.length > 0 && now[0] !== before[0];
  const taken = now
    .filter((ip) => ip !== 'None' && !before.includes(ip))
    .flatMap((ip) => {
      const problem = services.refuseClusterIp(ip);
      return problem === undefined ? [] : [invalidValue('spec.clusterIPs', now, problem)];
    });
  const families = strings(spec['ipFamilies']).filter((family) => !services.families.some((own) => own === family));
  return [
    ...(changed ? [invalidValue('spec.clusterIPs[0]', now[0], 'may not change once set')] : []),
    ...taken,
    ...(now.length === 0 ? [invalidValue('spec.clusterIPs', now, 'no address is free')] : []),
    ...families.map((family) => invalidValue('spec.ipFamilies', family, 'not configured on this cluster')),
    ...(spec['ipFamilyPolicy'] === 'RequireDualStack' && services.families.length < 2
      ? [
          invalidValue(
            'spec.ipFamilyPolicy',
            'RequireDualStack',
            'this cluster is not configured for dual-stack services',
          ),
        ]
      : []),
  ];
};

const validateNodePorts = (ports: readonly JsonRecord[], old: JsonRecord, services: ServiceAddresses): FieldError[] => {
  const before = new Set(
    (Array.isArray(old['ports']) ? old['ports'].filter(isRecord) : []).map((port) => port['nodePort']),
  );
  return ports.flatMap(({ nodePort }, i) => {
    if (typeof nodePort !== 'number' || before.has(nodePort)) return [];
    const problem = services.refuseNodePort(nodePort);
    return problem === undefined ? [] : [invalidValue(`spec.ports[${i}].nodePort`, nodePort, problem)];
  });
};

const addressesOf = (spec: JsonRecord): string[] => {
  const list = strings(spec['clusterIPs']);
  if (list.length > 0) return list;
  return typeof spec['clusterIP'] === 'string' && spec['clusterIP'] !== '' ? [spec['clusterIP']] : [];
};

const strings = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string' && item !== '') : [];

const familyOf = (ip: string): Family => (ip.includes(':') ? 'IPv6' : 'IPv4');

const without = (record: JsonRecord, names: readonly string[]): JsonRecord =>
  Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)));
