import { expect, it } from 'vitest';
import { atServer, kubeconfigFor } from './kubeconfig.ts';

const CREDENTIALS = {
  authority: 'authority',
  user: { kind: 'certificate', certificate: 'certificate '.repeat(20), key: 'key' },
} as const;

it('is the same at another address', () => {
  const inside = kubeconfigFor('https://127.0.0.1:6443', CREDENTIALS);
  expect(atServer(inside, 'https://127.0.0.1:40123')).toBe(kubeconfigFor('https://127.0.0.1:40123', CREDENTIALS));
});

it('has no user for a server without authentication', () => {
  expect(kubeconfigFor('http://127.0.0.1:1')).toContain('user: {}');
  expect(atServer(kubeconfigFor('http://127.0.0.1:1'), 'http://127.0.0.1:2')).toBe(kubeconfigFor('http://127.0.0.1:2'));
});
