import { refreshReuses } from './grants.ts';
import type { McpOptions } from './options.ts';
import type { ToolRename } from './tools/toolbox.ts';
import { answerModes } from './transport.ts';

/** The options of the command line that concern MCP, for parseArgs. */
export const mcpArguments = {
  mcp: { type: 'boolean', default: false },
  'mcp-scopes': { type: 'string' },
  'mcp-legacy': { type: 'boolean', default: false },
  'mcp-answers': { type: 'string', default: 'json' },
  'mcp-limit-per-minute': { type: 'string', default: '120' },
  'mcp-limit-per-day': { type: 'string', default: '5000' },
  'refresh-reuse': { type: 'string', default: 'revokes the grant' },
  'rename-tool': { type: 'string', multiple: true, default: [] as string[] },
  'rename-argument': { type: 'string', multiple: true, default: [] as string[] },
} as const;

export const mcpUsage = `  --mcp                 an administrator has enabled MCP, with all scopes; without it, it is off
  --mcp-scopes LIST     the scopes that may ever be granted; names joined by commas
  --mcp-legacy          serves /mcp/partner-legacy
  --mcp-answers MODE    ${answerModes.join(', ')}
  --mcp-limit-per-minute N, --mcp-limit-per-day N
                        of each calling address, default 120 and 5000
  --refresh-reuse WHAT  what becomes of a grant whose refresh token is sent twice: ${refreshReuses.join(', ')}
  --rename-tool OLD=NEW, --rename-argument TOOL.OLD=NEW
                        as often as needed; TOOL and OLD are the names of this sandbox`;

interface Values {
  mcp: boolean;
  'mcp-scopes'?: string | undefined;
  'mcp-legacy': boolean;
  'mcp-answers': string;
  'mcp-limit-per-minute': string;
  'mcp-limit-per-day': string;
  'refresh-reuse': string;
  'rename-tool': readonly string[];
  'rename-argument': readonly string[];
}

/** Throws an error that says which option makes no sense. `whole` reads a whole number. */
export function mcpOptions(values: Values, whole: (option: string, text: string) => number): McpOptions {
  const answers = answerModes.find((mode) => mode === values['mcp-answers']);
  if (answers === undefined) throw new Error(`--mcp-answers must be one of ${answerModes.join(', ')}`);
  const refreshReuse = refreshReuses.find((reuse) => reuse === values['refresh-reuse']);
  if (refreshReuse === undefined) throw new Error(`--refresh-reuse must be one of ${refreshReuses.join(', ')}`);
  return {
    enabled: values['mcp-scopes']?.split(',').map((scope) => scope.trim()) ?? values.mcp,
    legacy: values['mcp-legacy'],
    answers,
    refreshReuse,
    rateLimit: {
      perMinute: whole('--mcp-limit-per-minute', values['mcp-limit-per-minute']),
      perDay: whole('--mcp-limit-per-day', values['mcp-limit-per-day']),
    },
    renameTools: renamed(values['rename-tool'], values['rename-argument']),
  };
}

function renamed(tools: readonly string[], toolArguments: readonly string[]): ToolRename {
  const rename: Record<string, { name?: string; arguments: Record<string, string> }> = {};
  const of = (tool: string) => {
    rename[tool] ??= { arguments: {} };
    return rename[tool];
  };
  for (const text of tools) {
    const [, tool = '', name = ''] = /^(\w+)=(\S+)$/.exec(text) ?? complain('--rename-tool', 'OLD=NEW');
    of(tool).name = name;
  }
  for (const text of toolArguments) {
    const [, tool = '', own = '', name = ''] =
      /^(\w+)\.(\w+)=(\S+)$/.exec(text) ?? complain('--rename-argument', 'TOOL.OLD=NEW');
    of(tool).arguments[own] = name;
  }
  return rename;
}

function complain(option: string, form: string): never {
  throw new Error(`${option} must be ${form}`);
}
