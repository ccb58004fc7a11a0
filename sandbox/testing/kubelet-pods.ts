/** Pods of the kubelet stand-in's tests. */
import type { ManifestObject } from '../index.ts';

/** In the default namespace. */
export const pod = (name: string, spec: object = {}, container: object = {}): ManifestObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default' },
  spec: { containers: [{ name: 'c', image: 'toolbox', ...container }], ...spec },
});

/** What the kubelet says of one. */
export interface PodStatus {
  phase: string;
  podIP?: string;
  podIPs?: { ip: string }[];
  hostIP?: string;
  conditions: { type: string; status: string; reason?: string; message?: string }[];
  containerStatuses: {
    ready: boolean;
    restartCount: number;
    containerID?: string;
    state: { running?: object; waiting?: { reason: string }; terminated?: { exitCode: number; reason: string } };
    lastState: { terminated?: { exitCode: number } };
  }[];
}
