/** What the kubelet reads of a Pod. */
import { z } from 'zod';
import type { KubeObject } from '../../kube/types.ts';

const port = z.union([z.number().int(), z.string()]);

const probe = z.object({
  httpGet: z
    .object({
      path: z.string().default('/'),
      port,
      host: z.string().optional(),
      httpHeaders: z.array(z.object({ name: z.string(), value: z.string() })).default([]),
    })
    .optional(),
  tcpSocket: z.object({ port, host: z.string().optional() }).optional(),
  grpc: z.object({ port: z.number().int(), service: z.string().nullish() }).optional(),
  exec: z.object({ command: z.array(z.string()).default([]) }).optional(),
  initialDelaySeconds: z.number().default(0),
  periodSeconds: z.number().default(10),
  timeoutSeconds: z.number().default(1),
  successThreshold: z.number().default(1),
  failureThreshold: z.number().default(3),
});

const variable = z.object({
  name: z.string(),
  value: z.string().default(''),
  valueFrom: z.object({ fieldRef: z.object({ fieldPath: z.string() }).optional() }).optional(),
});

const container = z.object({
  name: z.string(),
  image: z.string().default('toolbox'),
  command: z.array(z.string()).default([]),
  args: z.array(z.string()).default([]),
  workingDir: z.string().optional(),
  env: z.array(variable).default([]),
  ports: z.array(z.object({ name: z.string().optional(), containerPort: z.number() })).default([]),
  readinessProbe: probe.optional(),
  livenessProbe: probe.optional(),
  startupProbe: probe.optional(),
});

const condition = z.object({
  type: z.string(),
  status: z.string(),
  lastTransitionTime: z.string().nullish(),
});

const pod = z.object({
  metadata: z.object({
    name: z.string(),
    namespace: z.string(),
    uid: z.string(),
    deletionTimestamp: z.string().optional(),
    deletionGracePeriodSeconds: z.number().optional(),
    annotations: z.record(z.string(), z.string()).default({}),
    labels: z.record(z.string(), z.string()).default({}),
  }),
  spec: z.object({
    hostname: z.string().optional(),
    hostNetwork: z.boolean().default(false),
    dnsPolicy: z.enum(['ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None']).default('ClusterFirst'),
    dnsConfig: z
      .object({ nameservers: z.array(z.string()).default([]), searches: z.array(z.string()).default([]) })
      .optional(),
    restartPolicy: z.enum(['Always', 'OnFailure', 'Never']).default('Always'),
    terminationGracePeriodSeconds: z.number().default(30),
    containers: z.array(container).min(1),
  }),
  status: z
    .object({
      conditions: z.array(condition).default([]),
      startTime: z.string().optional(),
      phase: z.string().default('Pending'),
    })
    .default({ conditions: [], phase: 'Pending' }),
});

export type Pod = z.infer<typeof pod>;
export type PodContainer = Pod['spec']['containers'][number];
export type Probe = z.infer<typeof probe>;

/** @throws ZodError when the object is no Pod that this kubelet can run */
export const readPod = (object: KubeObject): Pod => pod.parse(object);

/** A probe's port: a number, or the name of one of the container's. */
export const probePort = (container: PodContainer, desired: number | string): number | undefined =>
  typeof desired === 'number' ? desired : container.ports.find(({ name }) => name === desired)?.containerPort;
