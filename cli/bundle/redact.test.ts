import { describe, expect, it } from 'vitest';
import { redactObject, redactText } from './redact.ts';

const POD = {
  kind: 'Pod',
  metadata: {
    ...{ name: 'a', namespace: 'red', labels: { app: 'web' }, managedFields: [{ manager: 'kubectl' }] },
    annotations: {
      'k8s.ovn.org/pod-networks': '{}',
      'kubectl.kubernetes.io/last-applied-configuration': '{"env":"hunter2"}',
      'vault.example.com/token': 'hunter2',
      unqualified: 'hunter2',
    },
  },
  spec: {
    ...{ nodeName: 'node-1', volumes: [{ name: 'v', secret: { secretName: 'hunter2' } }] },
    containers: [
      {
        ...{ name: 'main', image: 'web:1', command: ['run', '--key=hunter2'], args: ['hunter2'] },
        env: [{ name: 'PASSWORD', value: 'hunter2' }],
        livenessProbe: { httpGet: { httpHeaders: [{ name: 'Authorization', value: 'hunter2' }] } },
      },
    ],
  },
  status: { phase: 'Running' },
};

describe('an object', () => {
  it('of a pod has what networks are about, and nothing of its environment, arguments, volumes and probes', () => {
    const shown = redactObject(POD);
    expect(JSON.stringify(shown)).not.toContain('hunter2');
    expect(shown).toMatchObject({
      metadata: { name: 'a', labels: { app: 'web' }, annotations: { 'k8s.ovn.org/pod-networks': '{}' } },
      spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'web:1' }] },
      status: { phase: 'Running' },
    });
  });

  it('of another kind keeps its spec, without the copy of it and without foreign annotations', () => {
    const { metadata } = POD;
    expect(redactObject({ kind: 'Service', metadata, spec: { type: 'ClusterIP' } })).toEqual({
      kind: 'Service',
      metadata: {
        ...{ name: 'a', namespace: 'red', labels: { app: 'web' } },
        annotations: { 'k8s.ovn.org/pod-networks': '{}' },
      },
      spec: { type: 'ClusterIP' },
    });
  });
});

it.each([
  ['Authorization: Bearer abcdefgh.ijkl', 'Authorization: Bearer [left out]'],
  ['jwt eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJrdWJlIn0.c2lnbmF0dXJl end', 'jwt [left out] end'],
  ['options {psk=swordfish, remote_ip="10.0.0.1"}', 'options {psk=[left out], remote_ip="10.0.0.1"}'],
  ['{"password":"a b","n":1}', '{"password":[left out],"n":1}'],
  ['password: "a b" rest', 'password: [left out] rest'],
  ['-----BEGIN EC PRIVATE KEY-----\nMHc\n-----END EC PRIVATE KEY-----\n', '[left out]\n'],
  ['tokens are counted, secrets are not read', 'tokens are counted, secrets are not read'],
  ['cookie=0xdeff105, priority=100', 'cookie=0xdeff105, priority=100'],
])('a text: %s', (text, expected) => {
  expect(redactText(text)).toBe(expected);
});
