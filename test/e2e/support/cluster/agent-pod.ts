/**
 * The pod of a node's agent, by which udnctl asks that node from anywhere, on sandboxes with real kubelets. No second agent runs in it:
 * the sandbox's own has the sockets.
 */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import type { ManifestObject } from '../../../../sandbox/index.ts';

/** The namespace of the programs. */
export const PROGRAMS = 'ovn-udn';

const manifestSchema = z.object({
  spec: z.object({
    template: z.object({
      metadata: z.object({ labels: z.record(z.string(), z.string()) }),
      spec: z.looseObject({
        containers: z.tuple([z.looseObject({ name: z.string(), volumeMounts: z.array(z.looseObject({})) })]),
        volumes: z.array(z.looseObject({})),
      }),
    }),
  }),
});

/** The pod of the DaemonSet as its manifest says, with the programs of the sandbox's node in place of its image. */
export const agentPod = (node: string): ManifestObject => {
  const { template } = manifestSchema.parse(parse(readFileSync('daemonset/agent.yaml', 'utf8'))).spec;
  const { containers, volumes, serviceAccountName: _, priorityClassName: __, affinity: ___, ...spec } = template.spec;
  const [{ name, securityContext, volumeMounts }] = containers;
  const tools = [
    { name: 'programs', hostPath: { path: '/opt/ovn-udn' }, mountPath: '/opt/ovn-udn' },
    { name: 'udnctl', hostPath: { path: '/usr/local/bin/udnctl' }, mountPath: '/opt/ovn-udn/bin/udnctl' },
  ];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: PROGRAMS, name: `udn-agent-${node}`, labels: template.metadata.labels },
    spec: {
      ...spec,
      nodeName: node,
      terminationGracePeriodSeconds: 1,
      containers: [
        {
          ...{ name, image: 'toolbox', command: ['sleep', 'infinity'], securityContext },
          volumeMounts: [...volumeMounts, ...tools.map(({ name: of, mountPath }) => ({ name: of, mountPath }))],
        },
      ],
      volumes: [...volumes, ...tools.map(({ name: of, hostPath }) => ({ name: of, hostPath }))],
    },
  };
};
