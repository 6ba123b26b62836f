document.body.textContent = 'The pages of the console are not here yet.';
