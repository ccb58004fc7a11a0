import { describe, expect, it } from 'vitest';
import { ApiError } from '../../api/errors.ts';
import { projectService } from './service-projection.ts';

const serviceOf = (ports: number, addresses: number) => ({
  metadata: { namespace: 'red', name: 'web', uid: 'u1', resourceVersion: '1' },
  spec: {
    clusterIP: '10.96.0.10',
    clusterIPs: ['10.96.0.10'],
    ports: Array.from({ length: ports }, (_, index) => ({ name: `p${index}`, port: 1 + index })),
    externalIPs: Array.from({ length: addresses }, (_, index) => `198.51.${index >> 8}.${index & 255}`),
  },
});

describe('ports at external addresses', () => {
  it('are accepted up to the limit', () => {
    expect(projectService(serviceOf(64, 64))?.externalIps).toHaveLength(64);
    expect(projectService(serviceOf(5000, 0))?.ports).toHaveLength(5000);
  });

  it('are refused above it, and the error says by what', () => {
    const refused = (): unknown => projectService(serviceOf(65, 64));
    expect(refused).toThrow(ApiError);
    expect(refused).toThrow('65 ports at 64 external addresses: their product may be 4096 at most');
  });
});
