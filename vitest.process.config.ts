import { defineConfig } from 'vitest/config';
import { everyTest, processTests } from './vitest.config.ts';

export default defineConfig({ test: { ...everyTest, include: processTests, hookTimeout: 90_000 } });
