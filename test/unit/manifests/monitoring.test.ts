/** The component `daemonset/monitoring`: Prometheus asks where the programs serve, as an account that may, and trusts what they have. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { agentHelp, parseAgentCommand } from '../../../agent/options/options.ts';
import { helpText, parseCommand } from '../../../cluster-manager/options.ts';
import { readManifests, readWorkload } from './load.ts';

const read = (name: string): unknown => parse(readFileSync(`daemonset/monitoring/${name}`, 'utf8'));

const patchSchema = z.object({
  kind: z.string(),
  metadata: z.object({ name: z.string() }),
  spec: z.object({
    template: z.object({
      spec: z.object({
        containers: z.tuple([
          z.object({
            name: z.string(),
            env: z.array(z.object({ name: z.string(), value: z.string() })),
            ports: z.tuple([z.object({ name: z.string(), containerPort: z.number(), hostPort: z.number() })]),
            volumeMounts: z.tuple([z.object({ name: z.string(), mountPath: z.string(), readOnly: z.literal(true) })]),
          }),
        ]),
        volumes: z.tuple([z.object({ name: z.string(), secret: z.object({ secretName: z.string() }) })]),
      }),
    }),
  }),
});
const monitorSchema = z.object({
  spec: z.object({
    selector: z.object({ matchLabels: z.record(z.string(), z.string()) }),
    podMetricsEndpoints: z.tuple([
      z.looseObject({
        port: z.string(),
        scheme: z.literal('https'),
        authorization: z.object({ type: z.literal('Bearer'), credentials: z.object({ name: z.string() }).loose() }),
        tlsConfig: z.object({
          ca: z.object({ secret: z.object({ name: z.string(), key: z.string() }) }),
          serverName: z.string(),
        }),
      }),
    ]),
  }),
});
const objectSchema = z.looseObject({
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), annotations: z.record(z.string(), z.string()).optional() }),
  roleRef: z.object({ kind: z.string(), name: z.string() }).optional(),
  subjects: z.array(z.object({ kind: z.string(), name: z.string() }).loose()).optional(),
});

const { spec: monitor } = monitorSchema.parse(read('podmonitor.yaml'));
const [endpoint] = monitor.podMetricsEndpoints;
const scraper = parseAllDocuments(readFileSync('daemonset/monitoring/scraper.yaml', 'utf8')).map((document) =>
  objectSchema.parse(document.toJS()),
);

const PROGRAMS = {
  'udn-agent': {
    file: 'agent-tls.yaml',
    help: agentHelp(),
    metrics: (env: Readonly<Record<string, string>>) => {
      const command = parseAgentCommand([], { UDN_NODE: 'n1', ...env });
      return command.kind === 'run' ? command.options.metrics : undefined;
    },
  },
  'udn-cluster-manager': {
    file: 'cluster-manager-tls.yaml',
    help: helpText(),
    metrics: (env: Readonly<Record<string, string>>) => {
      const command = parseCommand([], env);
      return command.kind === 'run' ? command.options.metrics : undefined;
    },
  },
} as const;

describe.each(['udn-agent', 'udn-cluster-manager'] as const)('%s', (name) => {
  const { file, metrics } = PROGRAMS[name];
  const patch = patchSchema.parse(read(file));
  const [container] = patch.spec.template.spec.containers;
  const workload = readWorkload(name);

  it('serves with TLS where Prometheus asks, with the Secret that Prometheus trusts', () => {
    expect([patch.kind, patch.metadata.name, container.name]).toEqual([workload.kind, name, name]);
    const [port] = container.ports;
    const served = metrics(Object.fromEntries(container.env.map(({ name: variable, value }) => [variable, value])));
    expect(served?.tls).toEqual({
      address: { host: '::', port: port.containerPort },
      folder: container.volumeMounts[0].mountPath,
    });
    expect(port.hostPort).toBe(port.containerPort);
    expect(endpoint.port).toBe(port.name);
    const [volume] = patch.spec.template.spec.volumes;
    expect(volume.name).toBe(container.volumeMounts[0].name);
    expect(volume.secret.secretName).toBe(endpoint.tlsConfig.ca.secret.name);
  });

  it('is what the PodMonitor selects', () => {
    expect(workload.spec.template.metadata.labels).toMatchObject(monitor.selector.matchLabels);
  });
});

it('the account of Prometheus may get the metrics, and nothing else', () => {
  const [account, token, binding] = scraper;
  expect(scraper.map(({ kind }) => kind)).toEqual(['ServiceAccount', 'Secret', 'ClusterRoleBinding']);
  expect(token?.metadata.name).toBe(endpoint.authorization.credentials['name']);
  expect(token?.metadata.annotations).toEqual({ 'kubernetes.io/service-account.name': account?.metadata.name });
  expect(binding?.subjects).toEqual([{ kind: 'ServiceAccount', name: account?.metadata.name, namespace: 'ovn-udn' }]);
  expect(readManifests().find(({ metadata }) => metadata.name === binding?.roleRef?.name)).toMatchObject({
    kind: 'ClusterRole',
    rules: [{ nonResourceURLs: ['/metrics', '/readyz', '/healthz'], verbs: ['get'] }],
  });
});
