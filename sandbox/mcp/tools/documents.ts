import { text } from './arguments.ts';
import { tool } from './tool.ts';

export const documents = [
  tool({
    name: 'search_documents',
    title: 'Search documents',
    description: 'Uploaded documents of the projects that you can see.',
    scope: 'mcp:documents.read',
    kind: 'reads',
    required: { containing: { ...text, description: 'Text in the name or the document' } },
    optional: {},
    run({ containing }, actor) {
      const wanted = containing.toLowerCase();
      const found = actor
        .visible(actor.store.data.documents)
        .filter((document) => `${document.name}\n${document.text}`.toLowerCase().includes(wanted));
      return {
        documents: found.map(({ document_id, project_id, ...rest }) => ({
          document: document_id,
          project: project_id,
          ...rest,
        })),
      };
    },
  }),
];
