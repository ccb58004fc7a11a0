/** Needs root and `make build`. */
import { cleanup } from './support/state/cleanup.ts';

cleanup({ name: 'test-cleanup' });
